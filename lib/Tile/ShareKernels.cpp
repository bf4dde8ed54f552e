// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-share-kernels (Passes.td).
#include "IR/Coded.h"
#include "IR/DistinctKernels.h"
#include "IR/Graph/Graph.h"
#include "IR/Tile/Tile.h"
#include "Tile/Passes.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_SHAREKERNELS
#include "Tile/Passes.h.inc"

namespace {

struct ShareKernels : impl::ShareKernelsBase<ShareKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    // Variants first, so that two kernels with equal ones name the same.
    llvm::stable_sort(kernels, [](KernelOp a, KernelOp b) {
      return !a->hasAttr(TileDialect::variantsName) && b->hasAttr(TileDialect::variantsName);
    });
    DistinctKernels distinct;
    for (KernelOp kernel : kernels) {
      nameVariants(kernel);
      if (auto first = cast<KernelOp>(distinct.insert(kernel)); first != kernel)
        shared[kernel.getSymNameAttr()] = FlatSymbolRefAttr::get(first.getSymNameAttr());
    }
    if (shared.empty())
      return;
    module.walk([&](graph::DispatchOp op) {
      if (auto other = shared.lookup(op.getKernelAttr().getAttr())) {
        op->setAttr(graph::configuredName, graph::configuredNames(op));
        op.setKernelAttr(other);
      }
    });
    for (KernelOp kernel : kernels)
      if (shared.contains(kernel.getSymNameAttr())) {
        emitReport(kernel.getLoc()) << "shares the kernel of another dispatch";
        kernel.erase();
      }
  }

  /// Puts those in the place of variants that they are the same as.
  void nameVariants(KernelOp kernel) {
    auto names = kernel->getAttrOfType<ArrayAttr>(TileDialect::variantsName);
    if (!names)
      return;
    SmallVector<Attribute> now;
    for (auto name : names.getAsRange<FlatSymbolRefAttr>()) {
      FlatSymbolRefAttr other = shared.lookup(name.getAttr());
      now.push_back(other ? other : name);
    }
    kernel->setAttr(TileDialect::variantsName, ArrayAttr::get(&getContext(), now));
  }

  DenseMap<StringAttr, FlatSymbolRefAttr> shared; // kernels and those that they are the same as
};

} // namespace

} // namespace tw::tile
