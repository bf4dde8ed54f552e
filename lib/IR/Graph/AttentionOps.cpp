// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Graph.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

#include "IR/Graph/AttentionInterface.cpp.inc"

namespace tw::graph {

void detail::setAttentionMap(AttentionInterface op, unsigned number, AffineMap map) {
  SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
  maps[number] = AffineMapAttr::get(map);
  op.setIndexingMapsAttr(ArrayAttr::get(op.getContext(), maps));
}

FloatType detail::attentionSumType(AttentionInterface op) {
  auto element = cast<FloatType>(cast<RankedTensorType>(op.getQuery().getType()).getElementType());
  return element.getWidth() < 32 ? Float32Type::get(op.getContext()) : element;
}

std::pair<OpOperand *, unsigned> detail::attentionAxisAlong(AttentionInterface op, unsigned dim) {
  std::pair<OpOperand *, unsigned> found{nullptr, 0};
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() == op.getScale())
      continue;
    auto axis = op.mapOf(operand).getResultPosition(getAffineDimExpr(dim, op.getContext()));
    bool isStatic = axis && !cast<RankedTensorType>(operand.get().getType()).isDynamicDim(*axis);
    if (axis && (!found.first || isStatic))
      found = {&operand, *axis};
    if (isStatic)
      break;
  }
  return found;
}

SmallVector<AttentionInput> AttentionGradientOp::inputs() {
  SmallVector<AttentionInput> inputs;
  for (AttentionInput input : {AttentionInput::Query, AttentionInput::Key, AttentionInput::Value})
    if (bitEnumContainsAll(getWrt(), input))
      inputs.push_back(input);
  return inputs;
}

namespace {

/// What the map of an operand or result must have of the dimensions that are no batch.
struct Form {
  const char *name;
  Value tensor;
  AffineMap map;
  ArrayRef<unsigned> needed, allowed;
};

Type elementOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); }

class Verifier {
public:
  explicit Verifier(AttentionInterface op) : op(op) {}

  /// What can be told before dimensions are known.
  LogicalResult verifyCounts(unsigned inputs, unsigned results) {
    if (op->getNumResults() != results || op.getOuts().size() != results)
      return op.emitOpError() << "needs " << results << " results and as many outs, but has "
                              << op->getNumResults() << " and " << op.getOuts().size();
    size_t maps = op.getIndexingMaps().size();
    if (maps != inputs + results)
      return op.emitOpError() << "needs " << inputs + results << " indexing maps, but has " << maps;
    unsigned dims = op.mapAt(0).getNumDims();
    if (dims < 4)
      return op.emitOpError() << "its maps have " << dims << " dimensions, but need 4 at least";
    if (TypeRange(op.getOuts()) != op->getResultTypes())
      return op.emitOpError("results must have the types of outs");
    Type element = elementOf(op.getQuery());
    for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
      if (!isa<FloatType>(element) || elementOf(operand) != element)
        return op.emitOpError("query, key and value must have one type of floats");
    sizes.assign(dims, ShapedType::kDynamic);
    return success();
  }

  LogicalResult verifyInputs() {
    unsigned l = op.queryDim(), s = op.keyDim(), e = op.depthDim(), f = op.widthDim();
    if (failed(verify("query", op.getQuery(), op.mapAt(0), {l, e})) ||
        failed(verify("key", op.getKey(), op.mapAt(1), {s, e})) ||
        failed(verify("value", op.getValue(), op.mapAt(2), {s, f})))
      return failure();
    unsigned scores[] = {l, s};
    return op.getMask() ? verifyForm({"mask", op.getMask(), op.mapAt(3), {}, scores}) : success();
  }

  /// A tensor that runs along all of `dims`, and others only of the batch.
  LogicalResult verify(const char *name, Value tensor, AffineMap map, ArrayRef<unsigned> dims) {
    return verifyForm({name, tensor, map, dims, dims});
  }

private:
  LogicalResult verifyForm(const Form &form) {
    auto type = cast<RankedTensorType>(form.tensor.getType());
    if (form.map.getNumDims() != sizes.size() ||
        int64_t(form.map.getNumResults()) != type.getRank() ||
        !form.map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return op.emitOpError() << "the map of the " << form.name << " must name one of "
                              << sizes.size() << " dimensions, or 0, for each of its "
                              << type.getRank() << " axes";
    for (unsigned dim : form.needed)
      if (!form.map.isFunctionOfDim(dim))
        return op.emitOpError() << "the " << form.name << " must run along dimension " << dim;
    for (auto [axis, expr] : llvm::enumerate(form.map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      unsigned position = dim.getPosition();
      if (position >= op.batchDims() && !llvm::is_contained(form.allowed, position))
        return op.emitOpError() << "the " << form.name << " cannot run along dimension "
                                << position;
      int64_t size = type.getDimSize(axis), &known = sizes[position];
      if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(known) && size != known)
        return op.emitOpError() << "dimension " << position << " is " << known << ", but " << size
                                << " in the " << form.name;
      if (!ShapedType::isDynamic(size))
        known = size;
    }
    return success();
  }

  AttentionInterface op;
  SmallVector<int64_t> sizes; // of the dimensions, as far as known
};

} // namespace

LogicalResult AttentionOp::verify() {
  unsigned count = getNumResults();
  if (count < 1 || count > 2 || getOuts().size() != count)
    return emitOpError() << "has one or two results, and as many outs";
  Verifier verifier(*this);
  if (failed(verifier.verifyCounts(getMask() ? 4 : 3, count)) || failed(verifier.verifyInputs()) ||
      failed(verifier.verify("result", getResult(0), resultMap(0), {queryDim(), widthDim()})))
    return failure();
  if (count > 1 && failed(verifier.verify("log of sums", getResult(1), resultMap(1), {queryDim()})))
    return failure();
  for (unsigned dim = 0; dim < batchDims(); ++dim)
    for (unsigned result = 0; result < count; ++result)
      if (!resultMap(result).isFunctionOfDim(dim))
        return emitOpError() << "result " << result << " must run along dimension " << dim;
  return success();
}

LogicalResult AttentionGradientOp::verify() {
  SmallVector<AttentionInput> of = inputs();
  if (of.empty())
    return emitOpError("needs an operand to differentiate by");
  Verifier verifier(*this);
  unsigned first = getMask() ? 4 : 3; // of the operands that have to do with the output
  if (failed(verifier.verifyCounts(first + 3, of.size())) || failed(verifier.verifyInputs()))
    return failure();
  unsigned l = queryDim(), s = keyDim(), e = depthDim(), f = widthDim();
  if (failed(verifier.verify("output's gradient", getOutputGradient(), mapAt(first), {l, f})) ||
      failed(verifier.verify("log of sums", getLogOfSums(), mapAt(first + 1), {l})) ||
      failed(verifier.verify("delta", getDelta(), mapAt(first + 2), {l})))
    return failure();
  if (elementOf(getOutputGradient()) != elementOf(getQuery()))
    return emitOpError("the output's gradient must have the type of the query");
  for (Value sums : {getLogOfSums(), getDelta()})
    if (elementOf(sums) != sumType())
      return emitOpError() << "the log of sums and delta must be of " << sumType();
  for (auto [number, input] : llvm::enumerate(of)) {
    SmallVector<unsigned> dims =
        input == AttentionInput::Query
            ? SmallVector<unsigned>{l, e}
            : SmallVector<unsigned>{s, input == AttentionInput::Key ? e : f};
    std::string name = stringifyAttentionInput(input) + "'s gradient";
    if (failed(verifier.verify(name.c_str(), getResult(number), resultMap(number), dims)))
      return failure();
    if (!resultMap(number).isProjectedPermutation())
      return emitOpError() << "the axes of the " << name << " must be a dimension each";
  }
  for (unsigned dim = 0; dim < batchDims(); ++dim)
    if (!axisAlong(dim).first)
      return emitOpError() << "no operand runs along dimension " << dim;
  if (bitEnumContainsAll(getWrt(), AttentionInput::Key | AttentionInput::Value))
    for (unsigned dim = 0; dim < batchDims(); ++dim)
      if (resultMap(of.size() - 2).isFunctionOfDim(dim) !=
          resultMap(of.size() - 1).isFunctionOfDim(dim))
        return emitOpError() << "gradients of key and value must both run along dimension " << dim
                             << ", or neither";
  return success();
}

} // namespace tw::graph
