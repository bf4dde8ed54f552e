// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/ReplacedState.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::conversion {

/// Renames the elements of one tensor.
static bool isRename(Operation *op) {
  return isa_and_present<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

static Value whole(Value tensor) {
  while (isRename(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

/// Whether whoever reads a tensor, or a part of it, does so before `end`, and `end` reads it once.
static bool isReadUntil(Value tensor, Operation *end) {
  unsigned reads = 0;
  SmallVector<Value> work = {tensor};
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<tensor::DimOp>(user))
        continue;
      if (isRename(user) || isa<tensor::ExtractSliceOp>(user)) {
        work.push_back(user->getResult(0));
        continue;
      }
      Operation *inBlock = end->getBlock()->findAncestorOpInBlock(*user);
      if (user == end)
        ++reads;
      else if (!inBlock || !inBlock->isBeforeInBlock(end))
        return false;
    }
  return reads == 1;
}

static bool isReplaced(graph::DispatchOp call, Value input, Value result) {
  auto state = dyn_cast<BlockArgument>(whole(input));
  auto main = dyn_cast<func::FuncOp>(call->getParentOp());
  if (!state || !main || state.getOwner() != call->getBlock())
    return false;
  auto name = main.getArgAttrOfType<StringAttr>(state.getArgNumber(), "tw.name"),
       role = main.getArgAttrOfType<StringAttr>(state.getArgNumber(), "tw.role");
  if (!name || !role || role.getValue() != "state" || !isReadUntil(state, call))
    return false;
  for (auto [number, value] : llvm::enumerate(call->getBlock()->getTerminator()->getOperands()))
    if (main.getResultAttrOfType<StringAttr>(number, "tw.state") == name)
      return whole(value) == result;
  return false;
}

bool isReplacedState(ArrayRef<graph::DispatchOp> calls, BlockArgument argument, unsigned result) {
  return !calls.empty() && llvm::all_of(calls, [&](graph::DispatchOp call) {
    return argument.getArgNumber() < call.getInputs().size() &&
           isReplaced(call, call.getInputs()[argument.getArgNumber()], call.getResult(result));
  });
}

} // namespace tw::conversion
