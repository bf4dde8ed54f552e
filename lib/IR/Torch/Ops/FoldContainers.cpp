// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds and canonicalizations of what asks for known facts: sizes and dtypes of tensors, elements
// of lists and tuples, whether something is None.
#include "IR/Torch/DtypeCode.h"
#include "IR/Torch/Hooks.h"
#include "Support/Checked.h"

using namespace mlir;
namespace tw::torch {

using Operands = ArrayRef<Attribute>;
using Results = SmallVectorImpl<OpFoldResult> &;

static LogicalResult giveInt(AtenOp op, std::optional<int64_t> value, Results results) {
  if (!value)
    return failure();
  results.push_back(Builder(op.getContext()).getI64IntegerAttr(*value));
  return success();
}
static LogicalResult giveBool(AtenOp op, std::optional<bool> value, Results results) {
  if (!value)
    return failure();
  results.push_back(BoolAttr::get(op.getContext(), *value));
  return success();
}

/// Python's index: a negative one counts from the end. Empty when out of range.
static std::optional<int64_t> wrapIndex(std::optional<int64_t> index, int64_t count) {
  if (index && *index < 0)
    *index += count;
  return index && *index >= 0 && *index < count ? index : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The sizes a tensor's type states, if it states the rank. A !torch.tensor can be resized; only
/// value tensors count.
static std::optional<ArrayRef<int64_t>> knownSizes(Value tensor) {
  auto type = dyn_cast<ValueTensorType>(tensor.getType());
  return type && type.getHasSizes() ? std::optional(type.getSizes()) : std::nullopt;
}

static LogicalResult foldSize(AtenOp op, Operands, Results results) {
  auto sizes = knownSizes(op->getOperand(0));
  if (!sizes)
    return failure();
  auto dim = wrapIndex(constantInt(op->getOperand(1)), sizes->size());
  if (!dim || (*sizes)[*dim] == ValueTensorType::kUnknownSize)
    return failure();
  return giveInt(op, (*sizes)[*dim], results);
}

static LogicalResult foldRank(AtenOp op, Operands, Results results) {
  auto sizes = knownSizes(op->getOperand(0));
  return giveInt(op, sizes ? std::optional<int64_t>(sizes->size()) : std::nullopt, results);
}

static LogicalResult foldFirstSize(AtenOp op, Operands, Results results) {
  auto sizes = knownSizes(op->getOperand(0));
  if (!sizes || sizes->empty() || sizes->front() == ValueTensorType::kUnknownSize)
    return failure();
  return giveInt(op, sizes->front(), results);
}

static LogicalResult foldNumel(AtenOp op, Operands, Results results) {
  auto sizes = knownSizes(op->getOperand(0));
  if (!sizes || llvm::is_contained(*sizes, ValueTensorType::kUnknownSize))
    return failure();
  return giveInt(op, checkedProduct({sizes->data(), sizes->size()}), results);
}

static LogicalResult foldDtype(AtenOp op, Operands, Results results) {
  return giveInt(op, dtypeCode(tensorDtype(op->getOperand(0).getType())), results);
}

static LogicalResult foldIsFloatingPoint(AtenOp op, Operands, Results results) {
  Type dtype = tensorDtype(op->getOperand(0).getType());
  return giveBool(op, dtype ? std::optional(isa<mlir::FloatType>(dtype)) : std::nullopt, results);
}

/// size() of a tensor of known rank is the list of size(0), size(1), ...
static LogicalResult expandSizes(AtenOp op, PatternRewriter &rewriter) {
  auto sizes = knownSizes(op->getOperand(0));
  if (!sizes)
    return rewriter.notifyMatchFailure(op, "the rank is not known");
  auto intType = IntType::get(op.getContext());
  SmallVector<Value> elements;
  for (auto [dim, size] : llvm::enumerate(*sizes)) {
    Value element = ConstantIntOp::create(rewriter, op.getLoc(),
                                          size == ValueTensorType::kUnknownSize ? dim : size);
    if (size == ValueTensorType::kUnknownSize)
      element = AtenOp::create(rewriter, op.getLoc(), "aten.size.int", intType,
                               {op->getOperand(0), element})
                    ->getResult(0);
    elements.push_back(element);
  }
  rewriter.replaceOpWithNewOp<ListConstructOp>(op, op->getResult(0).getType(), elements);
  return success();
}

//===----------------------------------------------------------------------===//
// None
//===----------------------------------------------------------------------===//

/// Whether a value can be None at run time; empty when its type leaves it open.
static std::optional<bool> mayBeNone(Value value) {
  if (isNone(value))
    return true;
  if (auto derefine = value.getDefiningOp<DerefineOp>())
    return mayBeNone(derefine.getOperand());
  if (isa<OptionalType, AnyType, UnionType>(value.getType()))
    return std::nullopt;
  return false;
}

template <bool IsNot>
static LogicalResult foldIs(AtenOp op, Operands, Results results) {
  std::optional<bool> a = mayBeNone(op->getOperand(0)), b = mayBeNone(op->getOperand(1));
  if (!a || !b || (!*a && !*b))
    return failure(); // identity of other objects is not known
  return giveBool(op, (*a == *b) != IsNot, results);
}

//===----------------------------------------------------------------------===//
// Lists and tuples
//===----------------------------------------------------------------------===//

/// `value` as one of `type`, by a cast where the types differ.
static Value retyped(PatternRewriter &rewriter, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isTensor(type) && isTensor(value.getType()))
    return TensorStaticInfoCastOp::create(rewriter, loc, type, value);
  return isSubtype(value.getType(), type) ? DerefineOp::create(rewriter, loc, type, value)
                                          : Value();
}

static LogicalResult foldLength(AtenOp op, Operands, Results results) {
  auto elements = listElements(op->getOperand(0));
  return giveInt(op, elements ? std::optional<int64_t>(elements->size()) : std::nullopt, results);
}

static LogicalResult pickElement(AtenOp op, PatternRewriter &rewriter, ValueRange elements) {
  auto index = wrapIndex(constantInt(op->getOperand(1)), elements.size());
  if (!index)
    return rewriter.notifyMatchFailure(op, "the index is not constant or out of range");
  Value element = retyped(rewriter, op.getLoc(), elements[*index], op->getResult(0).getType());
  if (!element)
    return rewriter.notifyMatchFailure(op, "the element has another type");
  rewriter.replaceOp(op, element);
  return success();
}

static LogicalResult getItem(AtenOp op, PatternRewriter &rewriter) {
  auto elements = listElements(op->getOperand(0));
  if (!elements)
    return rewriter.notifyMatchFailure(op, "the list is not made by prim.ListConstruct");
  return pickElement(op, rewriter, *elements);
}

static LogicalResult tupleIndex(AtenOp op, PatternRewriter &rewriter) {
  auto tuple = op->getOperand(0).getDefiningOp<TupleConstructOp>();
  if (!tuple)
    return rewriter.notifyMatchFailure(op, "the tuple is not made by prim.TupleConstruct");
  return pickElement(op, rewriter, tuple.getElements());
}

static LogicalResult unpackTuple(AtenOp op, PatternRewriter &rewriter) {
  auto tuple = op->getOperand(0).getDefiningOp<TupleConstructOp>();
  if (!tuple || tuple.getElements().size() != op->getNumResults())
    return rewriter.notifyMatchFailure(op, "the tuple is not made by prim.TupleConstruct");
  SmallVector<Value> elements;
  for (auto [element, result] : llvm::zip_equal(tuple.getElements(), op->getResults()))
    elements.push_back(retyped(rewriter, op.getLoc(), element, result.getType()));
  if (llvm::is_contained(elements, Value()))
    return rewriter.notifyMatchFailure(op, "an element has another type");
  rewriter.replaceOp(op, elements);
  return success();
}

/// a + b of lists with known elements.
static LogicalResult concatenate(AtenOp op, PatternRewriter &rewriter) {
  auto a = listElements(op->getOperand(0)), b = listElements(op->getOperand(1));
  if (!a || !b)
    return rewriter.notifyMatchFailure(op, "a list is not made by prim.ListConstruct");
  SmallVector<Value> elements(*a);
  llvm::append_range(elements, *b);
  rewriter.replaceOpWithNewOp<ListConstructOp>(op, op->getResult(0).getType(), elements);
  return success();
}

/// list[start:end:step] with known elements and bounds.
static LogicalResult sliceList(AtenOp op, PatternRewriter &rewriter) {
  auto elements = listElements(op->getOperand(0));
  std::optional<int64_t> step = op.intArg("step");
  if (!elements || !step || *step < 1)
    return rewriter.notifyMatchFailure(op, "needs a known list and a positive constant step");
  int64_t count = elements->size();
  auto bound = [&](StringRef name, int64_t absent) -> std::optional<int64_t> {
    if (op.isAbsent(name))
      return absent;
    std::optional<int64_t> value = op.intArg(name);
    if (value && *value < 0)
      *value += count;
    return value ? std::optional(std::clamp<int64_t>(*value, 0, count)) : std::nullopt;
  };
  std::optional<int64_t> start = bound("start", 0), end = bound("end", count);
  if (!start || !end)
    return rewriter.notifyMatchFailure(op, "a bound is not constant");
  SmallVector<Value> kept;
  for (int64_t i = *start; i < *end; i += std::min(*step, count))
    kept.push_back((*elements)[i]);
  rewriter.replaceOpWithNewOp<ListConstructOp>(op, op->getResult(0).getType(), kept);
  return success();
}

template <bool IsNot>
static LogicalResult foldEqualLists(AtenOp op, Operands, Results results) {
  auto a = constantInts(op->getOperand(0)), b = constantInts(op->getOperand(1));
  return giveBool(op, a && b ? std::optional((*a == *b) != IsNot) : std::nullopt, results);
}

/// unchecked_cast only states a narrower type; the value behind a derefine already has it.
static LogicalResult uncheckedCast(AtenOp op, PatternRewriter &rewriter) {
  Value value = op->getOperand(0);
  if (auto derefine = value.getDefiningOp<DerefineOp>())
    value = derefine.getOperand();
  Type type = op->getResult(0).getType();
  if (value.getType() != type && !isSubtype(value.getType(), type))
    return rewriter.notifyMatchFailure(op, "the value is not known to have the type");
  rewriter.replaceOp(op, retyped(rewriter, op.getLoc(), value, type));
  return success();
}

ArrayRef<NamedFold> containerFolds() {
  static constexpr NamedFold table[] = {
      {"aten.size.int", foldSize},
      {"aten.sym_size.int", foldSize},
      {"aten.dim", foldRank},
      {"aten.len.Tensor", foldFirstSize},
      {"aten.numel", foldNumel},
      {"aten.sym_numel", foldNumel},
      {"prim.dtype", foldDtype},
      {"aten.is_floating_point", foldIsFloatingPoint},
      {"aten.__is__", foldIs<false>},
      {"aten.__isnot__", foldIs<true>},
      {"aten.len.t", foldLength},
      {"aten.eq.int_list", foldEqualLists<false>},
      {"aten.ne.int_list", foldEqualLists<true>},
  };
  return table;
}

ArrayRef<NamedCanonicalize> containerPatterns() {
  static constexpr NamedCanonicalize table[] = {
      {"aten.size", expandSizes},        {"aten.sym_size", expandSizes},
      {"aten.__getitem__.t", getItem},   {"aten.add.t", concatenate},
      {"aten.slice.t", sliceList},       {"prim.TupleIndex", tupleIndex},
      {"prim.TupleUnpack", unpackTuple}, {"prim.unchecked_cast", uncheckedCast},
  };
  return table;
}

} // namespace tw::torch
