// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Mutations.h"
#include "IR/Graph/CallWeights.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::graph {

bool isRename(Operation *op) {
  return isa_and_present<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

Value wholeOf(Value tensor) {
  while (isRename(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

bool isConstant(Value tensor) {
  Operation *op = wholeOf(tensor).getDefiningOp();
  if (auto slice = dyn_cast_if_present<tensor::ExtractSliceOp>(op))
    return isConstant(slice.getSource());
  auto weight = dyn_cast_if_present<WeightOp>(op);
  return weight && !isGivenByCalls(weight.getSource());
}

std::optional<unsigned> nextValueOf(func::FuncOp main, unsigned argument) {
  auto name = main.getArgAttrOfType<StringAttr>(argument, "tw.name"),
       role = main.getArgAttrOfType<StringAttr>(argument, "tw.role");
  if (!name)
    return std::nullopt;
  bool isState = role && role.getValue() == "state";
  for (unsigned result = 0; result < main.getNumResults(); ++result)
    if (main.getResultAttrOfType<StringAttr>(result, isState ? "tw.state" : "tw.input") == name)
      return result;
  return std::nullopt;
}

/// Whether whoever reads a tensor, or a part of it, does so before `end`, which reads it `times`.
static bool isReadUntil(Value tensor, Operation *end, unsigned times) {
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
  return reads == times;
}

/// The last dispatch that reads a tensor, a name or a part of it, if only dispatches of one block
/// do.
static DispatchOp lastReader(Value tensor) {
  DispatchOp last;
  for (Operation *user : tensor.getUsers()) {
    bool isView = isRename(user) || isa<tensor::ExtractSliceOp>(user);
    DispatchOp reader = isView ? lastReader(user->getResult(0)) : dyn_cast<DispatchOp>(user);
    if (isa<tensor::DimOp>(user))
      continue;
    if (!reader || (last && last->getBlock() != reader->getBlock()))
      return {};
    if (!last || last->isBeforeInBlock(reader))
      last = reader;
  }
  return last;
}

/// Whether `value` is `next`, or dispatches make that of it, each the last that reads what it
/// updates.
static bool becomes(Value value, Value next) {
  while (value != next) {
    DispatchOp reader = lastReader(value);
    auto isLike = [&](Value result) {
      return cast<RankedTensorType>(result.getType()).getNumElements() ==
             cast<RankedTensorType>(value.getType()).getNumElements();
    };
    if (!reader || !cast<RankedTensorType>(value.getType()).hasStaticShape())
      return false;
    if (llvm::is_contained(reader.getResults(), next))
      return true;
    auto like = llvm::find_if(reader.getResults(), [&](Value result) {
      return cast<RankedTensorType>(result.getType()).hasStaticShape() && isLike(result);
    });
    if (like == reader.getResults().end())
      return false;
    value = *like;
  }
  return true;
}

static bool isReplaced(DispatchOp call, ArrayRef<unsigned> inputs, Value result) {
  auto main = dyn_cast<func::FuncOp>(call->getParentOp());
  if (!main || llvm::any_of(inputs, [&](unsigned i) { return i >= call.getInputs().size(); }))
    return false;
  Value old = wholeOf(call.getInputs()[inputs.front()]);
  if (old.getParentBlock() != call->getBlock() || old.getDefiningOp<WeightOp>() ||
      llvm::any_of(inputs, [&](unsigned i) { return wholeOf(call.getInputs()[i]) != old; }) ||
      !isReadUntil(old, call, unsigned(inputs.size())))
    return false;
  auto argument = dyn_cast<BlockArgument>(old);
  if (!argument)
    return isa<DispatchOp>(old.getDefiningOp());
  auto next = nextValueOf(main, argument.getArgNumber());
  return next && becomes(result, wholeOf(call->getBlock()->getTerminator()->getOperand(*next)));
}

bool isReplacedBy(ArrayRef<DispatchOp> calls, ArrayRef<unsigned> inputs, unsigned result) {
  return !calls.empty() && llvm::all_of(calls, [&](DispatchOp call) {
    return isReplaced(call, inputs, call.getResult(result));
  });
}

} // namespace tw::graph
