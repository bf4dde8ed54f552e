// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Subkernels/DispatchCalls.h"
#include "GraphToTile/Analysis/Subkernels/WeightStrides.h"
#include "IR/Tile/Tile.h"

using namespace mlir;

namespace tw::conversion {

DispatchCalls::DispatchCalls(ModuleOp module) {
  module.walk([&](graph::DispatchOp op) { calls[op.getKernel()].push_back(op); });
  for (auto kernel : module.getOps<tile::KernelOp>())
    handWritten.insert(kernel.getSymName());
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("tw.kernel"))
      functions.push_back(function);
}

ArrayRef<graph::DispatchOp> DispatchCalls::of(func::FuncOp function) const {
  auto found = calls.find(function.getName());
  return found == calls.end() ? ArrayRef<graph::DispatchOp>() : found->second;
}

FailureOr<DispatchAnalysis> DispatchCalls::analyze(func::FuncOp function, std::string &why) const {
  return analyzeDispatch(function, CallSizes(of(function)), areBesideHandWritten(of(function)),
                         why);
}

bool DispatchCalls::isRhsWeight(func::FuncOp function, const Subkernel &subkernel) const {
  auto *product = std::get_if<Contraction>(&subkernel.what);
  auto *convolution = std::get_if<Convolution>(&subkernel.what);
  if (!product && !convolution)
    return false;
  const TensorUse &b = subkernel.tensors[product ? product->b.buffer : convolution->w];
  auto argument = dyn_cast_or_null<BlockArgument>(b.tensor);
  return argument && llvm::all_of(of(function), [&](graph::DispatchOp call) {
           return canBePacked(call.getInputs()[argument.getArgNumber()], b.view);
         });
}

bool DispatchCalls::areBesideHandWritten(ArrayRef<graph::DispatchOp> calls) const {
  auto isOne = [&](Operation *op) {
    auto dispatch = dyn_cast_or_null<graph::DispatchOp>(op);
    return dispatch && handWritten.contains(dispatch.getKernel());
  };
  return llvm::any_of(calls, [&](graph::DispatchOp call) {
    return llvm::any_of(call->getUsers(), isOne) ||
           llvm::any_of(call.getInputs(), [&](Value v) { return isOne(v.getDefiningOp()); });
  });
}

} // namespace tw::conversion
