// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tw::graph;

#include "IR/Graph/Graph.dialect.cpp.inc"
#include "IR/Graph/Graph.enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "IR/Graph/Graph.attrs.cpp.inc"
#define GET_OP_CLASSES
#include "IR/Graph/Graph.ops.cpp.inc"

void TWDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "IR/Graph/Graph.attrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "IR/Graph/Graph.ops.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

LogicalResult ValueAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t result,
                                int64_t number, RankedTensorType type, ArrayRef<int64_t> order,
                                ArrayRef<int64_t> part) {
  if (result < 0 || number < 0)
    return emitError() << "results and values are counted from 0, not from "
                       << std::min(result, number);
  if (!order.empty() && (int64_t(order.size()) != type.getRank() || !isPermutationVector(order)))
    return emitError() << "[" << order << "] is no order of the dimensions of " << type;
  if (!part.empty() &&
      (part.size() != 3 || part[0] < 0 || part[1] < 1 || part[0] > part[2] - part[1]))
    return emitError() << "[" << part
                       << "] is no part: begin, count and whole, where begin + count "
                       << "is at most whole";
  return success();
}

LogicalResult WeightOp::verify() {
  auto rank = cast<RankedTensorType>(getType()).getRank();
  if (int64_t(getSource().getStrides().size()) != rank)
    return emitOpError() << "has " << getSource().getStrides().size() << " strides but rank "
                         << rank;
  return success();
}

LogicalResult AssertOp::verify() {
  if (getValues().size() > 2)
    return emitOpError() << "takes at most 2 values, but got " << getValues().size();
  return success();
}

/// What always holds is not asked.
LogicalResult AssertOp::canonicalize(AssertOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return rewriter.notifyMatchFailure(op, "it may fail");
  rewriter.eraseOp(op);
  return success();
}

LogicalResult ConvOp::verify() {
  int64_t rank = typeOf(getInit()).getRank(), spatial = rank - 2;
  if (spatial < 1 || typeOf(getInput()).getRank() != rank || typeOf(getWeight()).getRank() != rank)
    return emitOpError("input, weight and init must have one rank of at least 3");
  for (auto list : {getStrides(), getPaddingLow(), getDilations()})
    if (int64_t(list.size()) != spatial)
      return emitOpError() << "strides, padding_low and dilations must have " << spatial
                           << " values";
  if (int64_t(getGroups()) < 1)
    return emitOpError() << "groups must be positive, but is " << getGroups();
  if (getInit().getType() != getResult().getType())
    return emitOpError("result must have the init's type");
  int64_t groups = int64_t(getGroups()), channels = typeOf(getInput()).getDimSize(inputChannels());
  int64_t outputs = typeOf(getInit()).getDimSize(resultChannels());
  for (auto [name, count] : {std::pair("input", channels), std::pair("output", outputs)})
    if (!ShapedType::isDynamic(count) && count % groups != 0)
      return emitOpError() << count << " " << name << " channels do not divide into " << groups
                           << " groups";
  if (getOutputsFirst() && (groups != 1 || getTransposed()))
    return emitOpError("with outputs_first must have one group and not be transposed");
  if (!isResultLast())
    return success();
  int64_t first = isWeightLast() ? spatial : 1, last = isWeightLast() ? spatial + 1 : 0;
  std::pair<const char *, std::pair<int64_t, int64_t>> pairs[] = {
      {"input channels of a group",
       {typeOf(getWeight()).getDimSize(first),
        ShapedType::isDynamic(channels) ? channels : channels / groups}},
      {"output channels", {typeOf(getWeight()).getDimSize(last), outputs}}};
  for (auto &[name, sizes] : pairs)
    if (!ShapedType::isDynamic(sizes.first) && !ShapedType::isDynamic(sizes.second) &&
        sizes.first != sizes.second)
      return emitOpError() << "the weight has " << sizes.first << " " << name << ", the tensors "
                           << sizes.second;
  return success();
}

LogicalResult ScanOp::verify() {
  size_t count = getInitial().size();
  if (getOuts().size() != count || getResults().size() != count)
    return emitOpError() << "must have as many outs and results as initial states (" << count
                         << ")";
  if (getInputs().empty() || int64_t(getDim()) < 0 ||
      int64_t(getDim()) >= typeOf(getInputs()[0]).getRank())
    return emitOpError("needs an input that has the dimension 'dim'");
  Block &body = getBody().front();
  if (body.getNumArguments() != count + getInputs().size())
    return emitOpError("body must take the states and one element of each input");
  if (body.getTerminator()->getNumOperands() != count)
    return emitOpError("body must yield the new states");
  return success();
}

LogicalResult SortOp::verify() {
  int64_t rank = typeOf(getInput()).getRank();
  if (int64_t dim = getDim(); dim < 0 || dim >= rank)
    return emitOpError() << "dim is " << dim << " but the input's rank is " << rank;
  if (!typeOf(getIndicesInit()).getElementType().isInteger(64))
    return emitOpError("indices must be i64");
  RankedTensorType input = typeOf(getInput());
  for (Value result : {getValues(), getIndices()}) {
    RankedTensorType type = typeOf(result);
    if (type.getRank() != rank)
      return emitOpError() << "the input's rank is " << rank << " but a result's "
                           << type.getRank();
    for (int64_t d = 0; d < rank; ++d) {
      int64_t have = input.getDimSize(d), given = type.getDimSize(d);
      bool isKnown = !ShapedType::isDynamic(have) && !ShapedType::isDynamic(given);
      if (isKnown && (d == int64_t(getDim()) ? given > have : given != have))
        return emitOpError() << "a result has size " << given << " in dimension " << d
                             << " but the input " << have;
    }
  }
  return success();
}

MutableOperandRange SortOp::getDpsInitsMutable() {
  return MutableOperandRange(getOperation(), 1, 2);
}

std::optional<SmallVector<std::pair<unsigned, unsigned>>> tw::graph::iterationSizes(ScatterOp op) {
  auto maps = op.getIndexingMaps().getAsValueRange<AffineMapAttr>();
  if (maps.empty())
    return std::nullopt;
  unsigned dims = (*maps.begin()).getNumDims();
  SmallVector<std::optional<std::pair<unsigned, unsigned>>> found(dims);
  unsigned input = 0;
  for (AffineMap map : maps) {
    if (map.getNumDims() != dims)
      return std::nullopt;
    for (auto [position, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !found[dim.getPosition()])
        found[dim.getPosition()] = {input, unsigned(position)};
    ++input;
  }
  SmallVector<std::pair<unsigned, unsigned>> sizes;
  for (auto &size : found) {
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

LogicalResult ScatterOp::verify() {
  if (getIndexingMaps().size() != getInputs().size())
    return emitOpError("needs one indexing map an input");
  if (!iterationSizes(*this))
    return emitOpError("the indexing maps must determine every dimension of the iteration space");
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size())
    return emitOpError("body must take one element of each input");
  int64_t rank = typeOf(getInit()).getRank();
  if (int64_t(body.getTerminator()->getNumOperands()) != rank + 1)
    return emitOpError() << "body must yield " << rank << " coordinates and a value";
  return success();
}

ArrayAttr tw::graph::configuredNames(DispatchOp dispatch) {
  if (auto names = dispatch->getAttrOfType<ArrayAttr>(configuredName))
    return names;
  return ArrayAttr::get(dispatch.getContext(), dispatch.getKernelAttr().getAttr());
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *callee = tables.lookupNearestSymbolFrom(*this, getKernelAttr());
  auto kernel = dyn_cast_or_null<func::FuncOp>(callee);
  // What a tile.kernel takes is checked by those who make the call (lib/Kernels).
  if (!kernel && callee && callee->getName().getStringRef() == "tile.kernel")
    return success();
  if (!kernel)
    return emitOpError() << "calls @" << getKernel() << ", which is not a kernel";
  FunctionType type = kernel.getFunctionType();
  if (TypeRange(type.getInputs()) != TypeRange(getOperandTypes()) ||
      TypeRange(type.getResults()) != TypeRange(getResultTypes()))
    return emitOpError() << "does not fit the type of @" << getKernel() << ", " << type;
  return success();
}
