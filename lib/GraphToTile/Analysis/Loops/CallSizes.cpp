// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Loops/CallSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace tw::conversion {

Value sizeSource(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
      tensor = style.getTiedOpOperand(cast<OpResult>(tensor))->get();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      tensor = insert.getDest();
    else if (auto cast = dyn_cast<tensor::CastOp>(op))
      tensor = cast.getSource();
    else
      break;
  }
  return tensor;
}

/// Computes the same from the same values.
static bool areSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && x->getNumRegions() == 0 && isPure(x) &&
         cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             x, y, [](Value p, Value q) { return success(areSame(p, q)); }, nullptr,
             OperationEquivalence::IgnoreLocations);
}

/// The size of a tensor in the program that calls, where that is written down.
static OpFoldResult sizeInCaller(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return Builder(tensor.getContext()).getIndexAttr(type.getDimSize(axis));
  Value source = sizeSource(tensor);
  if (auto empty = source.getDefiningOp<tensor::EmptyOp>())
    return empty.getMixedSizes()[axis];
  if (auto call = source.getDefiningOp<graph::DispatchOp>()) {
    unsigned number = cast<OpResult>(source).getResultNumber();
    return sizeInCaller(call.getOuts()[number], axis);
  }
  if (auto expand = source.getDefiningOp<tensor::ExpandShapeOp>())
    return expand.getMixedOutputShape()[axis];
  return {};
}

static Value inCaller(Value value, graph::DispatchOp call) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return {};
  unsigned number = argument.getArgNumber(), inputs = call.getInputs().size();
  return number < inputs ? call.getInputs()[number] : call.getOuts()[number - inputs];
}

static bool areSame(OpFoldResult a, OpFoldResult b) {
  auto x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x || y)
    return x == y;
  auto p = dyn_cast_if_present<Value>(a), q = dyn_cast_if_present<Value>(b);
  return p && q && areSame(p, q);
}

/// Whether `size` is asked of a dimension of just this tensor.
static bool asksFor(OpFoldResult size, Value tensor, int64_t axis) {
  auto value = dyn_cast_if_present<Value>(size);
  auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  return dim && dim.getSource() == tensor && dim.getConstantIndex() == axis;
}

bool CallSizes::isSizeOf(OpFoldResult size, Value tensor, int64_t axis) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return getConstantIntValue(size) == type.getDimSize(axis);
  Value source = sizeSource(tensor);
  if (asksFor(size, tensor, axis) || asksFor(size, source, axis))
    return true;
  if (auto empty = source.getDefiningOp<tensor::EmptyOp>())
    return areSame(size, empty.getMixedSizes()[axis]);
  auto value = dyn_cast_if_present<Value>(size);
  return value && !calls.empty() && llvm::all_of(calls, [&](graph::DispatchOp call) {
           Value own = inCaller(value, call), other = inCaller(source, call);
           return own && other &&
                  (asksFor(own, other, axis) || areSame(own, sizeInCaller(other, axis)));
         });
}

bool CallSizes::areSameSize(Value x, Value y, int64_t axis) const {
  auto sizeOf = [&](Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(axis);
  };
  if (!ShapedType::isDynamic(sizeOf(x)) || !ShapedType::isDynamic(sizeOf(y)))
    return sizeOf(x) == sizeOf(y);
  x = sizeSource(x), y = sizeSource(y);
  return x == y || (!calls.empty() && llvm::all_of(calls, [&](graph::DispatchOp call) {
           Value a = inCaller(x, call), b = inCaller(y, call);
           if (!a || !b)
             return false;
           OpFoldResult m = sizeInCaller(a, axis), n = sizeInCaller(b, axis);
           return a == b || asksFor(m, b, axis) || asksFor(n, a, axis) || areSame(m, n);
         }));
}

} // namespace tw::conversion
