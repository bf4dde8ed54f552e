// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "IR/Torch/ContainerOps.cpp.inc"

namespace tw::torch {

LogicalResult ListConstructOp::verify() {
  Type contained = getType().getContainedType();
  for (auto [index, element] : llvm::enumerate(getElements()))
    if (!isSubtype(element.getType(), contained))
      return emitOpError() << "element #" << index << " has type " << element.getType()
                           << ", which is no " << contained;
  return success();
}

LogicalResult TupleConstructOp::verify() {
  ArrayRef<Type> contained = getType().getContainedTypes();
  if (contained.size() != getElements().size())
    return emitOpError() << "has " << getElements().size() << " elements but its type " << getType()
                         << " has " << contained.size();
  for (auto [index, element, type] : llvm::enumerate(getElements(), contained))
    if (!isSubtype(element.getType(), type))
      return emitOpError() << "element #" << index << " has type " << element.getType()
                           << ", which is no " << type;
  return success();
}

LogicalResult DictConstructOp::verify() {
  for (Value key : getKeys())
    if (!isSubtype(key.getType(), getType().getKeyType()))
      return emitOpError() << "has a key of type " << key.getType() << ", which is no "
                           << getType().getKeyType();
  for (Value value : getValues())
    if (!isSubtype(value.getType(), getType().getValueType()))
      return emitOpError() << "has a value of type " << value.getType() << ", which is no "
                           << getType().getValueType();
  return success();
}

LogicalResult ListUnpackOp::canonicalize(ListUnpackOp op, PatternRewriter &rewriter) {
  std::optional<ValueRange> elements = listElements(op.getOperand());
  if (!elements)
    return rewriter.notifyMatchFailure(op, "the list is not made by prim.ListConstruct");
  if (elements->getTypes() != op->getResultTypes())
    return rewriter.notifyMatchFailure(op, "the elements have other types than the results");
  rewriter.replaceOp(op, *elements);
  return success();
}

OpFoldResult DerefineOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

/// Operators that take optional or number arguments take the narrower type as well, so that
/// constant arguments can be seen: uses by table operations drop the cast.
LogicalResult DerefineOp::canonicalize(DerefineOp op, PatternRewriter &rewriter) {
  if (!isSubtype(op.getOperand().getType(), op.getType()))
    return rewriter.notifyMatchFailure(op, "the operand's type is not narrower");
  bool changed = false;
  rewriter.replaceUsesWithIf(op.getResult(), op.getOperand(), [&](OpOperand &use) {
    bool drop = acceptsType(use, op.getOperand().getType());
    changed |= drop;
    return drop;
  });
  return success(changed);
}

} // namespace tw::torch
