// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Graph.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tw::graph {

AffineMap AttentionOp::mapOf(OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  unsigned scale = getMask() ? 4 : 3;
  unsigned map = number < scale ? number : number - 1;
  return cast<AffineMapAttr>(getIndexingMaps()[map]).getValue();
}

AffineMap AttentionOp::resultMap(unsigned result) {
  return cast<AffineMapAttr>(getIndexingMaps()[(getMask() ? 4 : 3) + result]).getValue();
}

FloatType AttentionOp::sumType() {
  auto element = cast<FloatType>(cast<RankedTensorType>(getQuery().getType()).getElementType());
  return element.getWidth() < 32 ? Float32Type::get(getContext()) : element;
}

std::pair<OpOperand *, unsigned> AttentionOp::axisAlong(unsigned dim) {
  std::pair<OpOperand *, unsigned> found{nullptr, 0};
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (operand.get() == getScale())
      continue;
    auto axis = mapOf(operand).getResultPosition(getAffineDimExpr(dim, getContext()));
    bool isStatic = axis && !cast<RankedTensorType>(operand.get().getType()).isDynamicDim(*axis);
    if (axis && (!found.first || isStatic))
      found = {&operand, *axis};
    if (isStatic)
      break;
  }
  return found;
}

namespace {

/// What the map of an operand or result must have of the dimensions that are no batch.
struct Form {
  const char *name;
  Value tensor;
  AffineMap map;
  ArrayRef<unsigned> needed, allowed;
};

LogicalResult verifyForm(AttentionOp op, const Form &form, unsigned dims,
                         SmallVectorImpl<int64_t> &sizes) {
  auto type = cast<RankedTensorType>(form.tensor.getType());
  if (form.map.getNumDims() != dims || int64_t(form.map.getNumResults()) != type.getRank() ||
      !form.map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return op.emitOpError() << "the map of the " << form.name << " must name one of " << dims
                            << " dimensions, or 0, for each of its " << type.getRank() << " axes";
  for (unsigned dim : form.needed)
    if (!form.map.isFunctionOfDim(dim))
      return op.emitOpError() << "the " << form.name << " must run along dimension " << dim;
  for (auto [axis, expr] : llvm::enumerate(form.map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue;
    unsigned position = dim.getPosition();
    if (position >= op.batchDims() && !llvm::is_contained(form.allowed, position))
      return op.emitOpError() << "the " << form.name << " cannot run along dimension " << position;
    int64_t size = type.getDimSize(axis), &known = sizes[position];
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(known) && size != known)
      return op.emitOpError() << "dimension " << position << " is " << known << ", but " << size
                              << " in the " << form.name;
    if (!ShapedType::isDynamic(size))
      known = size;
  }
  return success();
}

} // namespace

LogicalResult AttentionOp::verify() {
  unsigned masks = getMask() ? 1 : 0, count = getResults().size();
  if (count < 1 || count > 2 || getOuts().size() != count)
    return emitOpError() << "has one or two results, and as many outs";
  if (getIndexingMaps().size() != 3 + masks + count)
    return emitOpError() << "needs " << 3 + masks + count << " indexing maps, but has "
                         << getIndexingMaps().size();
  unsigned dims = resultMap(0).getNumDims();
  if (dims < 4)
    return emitOpError() << "its maps have " << dims << " dimensions, but need 4 at least";
  if (TypeRange(getOuts()) != getResultTypes())
    return emitOpError("results must have the types of outs");
  Type element = cast<RankedTensorType>(getQuery().getType()).getElementType();
  for (Value operand : {Value(getQuery()), Value(getKey()), Value(getValue())})
    if (!isa<FloatType>(element) ||
        cast<RankedTensorType>(operand.getType()).getElementType() != element)
      return emitOpError("query, key and value must have one type of floats");
  unsigned l = queryDim(), s = keyDim(), e = depthDim(), f = widthDim();
  unsigned querys[] = {l, e}, keys[] = {s, e}, values[] = {s, f}, scores[] = {l, s},
           outputs[] = {l, f}, sums[] = {l};
  auto map = [&](unsigned i) { return cast<AffineMapAttr>(getIndexingMaps()[i]).getValue(); };
  SmallVector<Form> forms = {{"query", getQuery(), map(0), querys, querys},
                             {"key", getKey(), map(1), keys, keys},
                             {"value", getValue(), map(2), values, values}};
  if (masks)
    forms.push_back({"mask", getMask(), map(3), {}, scores});
  forms.push_back({"result", getResult(0), resultMap(0), outputs, outputs});
  if (count > 1)
    forms.push_back({"log of sums", getResult(1), resultMap(1), sums, sums});
  SmallVector<int64_t> sizes(dims, ShapedType::kDynamic);
  for (const Form &form : forms)
    if (failed(verifyForm(*this, form, dims, sizes)))
      return failure();
  for (unsigned dim = 0; dim < batchDims(); ++dim)
    for (unsigned result = 0; result < count; ++result)
      if (!resultMap(result).isFunctionOfDim(dim))
        return emitOpError() << "result " << result << " must run along dimension " << dim;
  return success();
}

} // namespace tw::graph
