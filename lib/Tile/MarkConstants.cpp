// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-mark-constants (Passes.td).
#include "IR/Graph/Graph.h"
#include "IR/Graph/Mutations.h"
#include "IR/Tile/Variants.h"
#include "Tile/Fusion/KernelFusion.h"
#include "Tile/Passes.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_MARKCONSTANTS
#include "Tile/Passes.h.inc"

namespace {

/// The inputs of a kernel, in their order, that are constant in all of its calls.
llvm::BitVector constantInputs(KernelOp kernel, ArrayRef<graph::DispatchOp> calls) {
  size_t count = Operands(kernel).ins.size();
  llvm::BitVector constant(count, !calls.empty());
  for (graph::DispatchOp call : calls)
    for (auto [i, input] : llvm::enumerate(call.getInputs().take_front(count)))
      if (!graph::isConstant(input))
        constant.reset(i);
  return constant;
}

void mark(KernelOp kernel, const llvm::BitVector &constant) {
  SmallVector<Attribute> arguments;
  unsigned input = 0;
  for (auto argument : kernel.getArguments().getAsRange<ArgumentAttr>())
    arguments.push_back(
        argument.withConstant(argument.getAccess() == Access::In && constant.test(input++)));
  kernel.setArgumentsAttr(ArrayAttr::get(kernel.getContext(), arguments));
}

struct MarkConstants : impl::MarkConstantsBase<MarkConstants> {
  void runOnOperation() override {
    llvm::StringMap<SmallVector<graph::DispatchOp>> calls;
    getOperation().walk([&](graph::DispatchOp op) { calls[op.getKernel()].push_back(op); });
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels)
      for (KernelOp variant : variantsOf(kernel)) // several kernels may share one
        llvm::append_range(calls[variant.getSymName()], calls.lookup(kernel.getSymName()));
    for (KernelOp kernel : kernels)
      mark(kernel, constantInputs(kernel, calls[kernel.getSymName()]));
  }
};

} // namespace

} // namespace tw::tile
