// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Tile/Variants.h"
#include "IR/Coded.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tw::tile {

SmallVector<KernelOp> variantsOf(KernelOp kernel) {
  SmallVector<KernelOp> variants;
  if (auto names = kernel->getAttrOfType<ArrayAttr>(TileDialect::variantsName))
    for (auto name : names.getAsRange<FlatSymbolRefAttr>())
      if (auto variant = SymbolTable::lookupNearestSymbolFrom<KernelOp>(kernel, name))
        variants.push_back(variant);
  return variants;
}

int64_t mostOf(KernelOp variant) {
  int64_t most = INT64_MAX;
  for (auto symbol : variant.getSymbols().getAsRange<SymbolAttr>())
    most = std::min(most, symbol.getMax());
  return most;
}

int64_t workersOf(KernelOp kernel) {
  auto workers = kernel->getAttrOfType<IntegerAttr>(TileDialect::workersName);
  return workers ? workers.getInt() : 0;
}

std::string variantSuffix(KernelOp variant) {
  int64_t workers = workersOf(variant);
  return workers > 0 ? "_workers" + std::to_string(workers)
                     : "_max" + std::to_string(mostOf(variant));
}

void setVariants(KernelOp kernel, ArrayRef<KernelOp> variants) {
  SmallVector<Attribute> names;
  for (KernelOp variant : variants)
    names.push_back(FlatSymbolRefAttr::get(variant.getSymNameAttr()));
  if (names.empty())
    kernel->removeAttr(TileDialect::variantsName);
  else
    kernel->setAttr(TileDialect::variantsName, ArrayAttr::get(kernel.getContext(), names));
}

void dropVariants(KernelOp kernel, StringRef why) {
  SmallVector<KernelOp> variants = variantsOf(kernel);
  if (variants.empty())
    return;
  emitReport(kernel.getLoc()) << "has no variants: " << why;
  setVariants(kernel, {});
  for (KernelOp variant : variants)
    variant.erase();
}

DenseSet<Operation *> allVariants(ModuleOp module) {
  DenseSet<Operation *> all;
  for (auto kernel : module.getOps<KernelOp>())
    for (KernelOp variant : variantsOf(kernel))
      all.insert(variant);
  return all;
}

} // namespace tw::tile
