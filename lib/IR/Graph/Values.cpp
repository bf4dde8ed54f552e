// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tw::graph {

/// Whether `op` gives the elements of its first operand, in order, another shape.
static bool isReshape(Operation *op) {
  return isa_and_present<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

SmallVector<ValueAttr> valuesOf(Operation *op, StringRef list) {
  auto all = op->getAttrOfType<ArrayAttr>(list);
  return all ? SmallVector<ValueAttr>(all.getAsRange<ValueAttr>()) : SmallVector<ValueAttr>();
}

void setValues(Operation *op, ArrayRef<ValueAttr> values, StringRef list) {
  SmallVector<Attribute> all(values.begin(), values.end());
  if (all.empty())
    op->removeAttr(list);
  else
    op->setAttr(list, ArrayAttr::get(op->getContext(), all));
}

bool hasValues(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return inner->hasAttr(valuesName) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static void collect(Value tensor, SmallVectorImpl<ValueAttr> &found) {
  if (auto result = dyn_cast<OpResult>(tensor))
    for (ValueAttr value : valuesOf(result.getOwner()))
      if (value.getResult() == int64_t(result.getResultNumber()))
        found.push_back(value);
  for (Operation *user : tensor.getUsers())
    if (isReshape(user))
      collect(user->getResult(0), found);
}

SmallVector<ValueAttr> valuesOf(Value tensor) {
  SmallVector<ValueAttr> found;
  collect(tensor, found);
  return found;
}

/// `known` of a tensor of this shape, for one that has its dimensions in `order`; null where the
/// dimensions are no longer those of the value.
static ValueAttr inOrder(ValueAttr known, ArrayRef<int64_t> shape, ArrayRef<int64_t> order) {
  if (isIdentityPermutation(order))
    return known;
  if (!known.getPart().empty())
    return {};
  RankedTensorType type = known.getType();
  SmallVector<int64_t> before(known.getOrder()), after;
  if (before.empty())
    before = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (applyPermutation(type.getShape(), before) != shape)
    return {};
  after = applyPermutation(before, order);
  if (isIdentityPermutation(after))
    after.clear();
  return ValueAttr::get(known.getContext(), known.getResult(), known.getNumber(), type, after,
                        ArrayRef<int64_t>());
}

static void add(Value now, ArrayRef<ValueAttr> more) {
  auto result = dyn_cast_if_present<OpResult>(now);
  auto type = dyn_cast<RankedTensorType>(now.getType());
  if (!result || !type || result.getOwner()->hasTrait<OpTrait::ConstantLike>() ||
      isa<WeightOp, tensor::EmptyOp>(result.getOwner()))
    return;
  int64_t place = result.getResultNumber();
  SmallVector<ValueAttr> all = valuesOf(result.getOwner());
  for (ValueAttr value : more) {
    bool isKnown = llvm::any_of(all, [&](ValueAttr known) {
      return known.getResult() == place && known.getNumber() == value.getNumber();
    });
    if (!isKnown && value.getType().getElementType() == type.getElementType())
      all.push_back(ValueAttr::get(value.getContext(), place, value.getNumber(), value.getType(),
                                   value.getOrder(), value.getPart()));
  }
  setValues(result.getOwner(), all);
}

void keepValues(Value old, Value now, ArrayRef<int64_t> order) {
  SmallVector<ValueAttr> known;
  for (ValueAttr value : valuesOf(old))
    if (ValueAttr reordered =
            inOrder(value, cast<RankedTensorType>(old.getType()).getShape(), order))
      known.push_back(reordered);
  if (known.empty())
    return;
  add(now, known);
  while (isReshape(now.getDefiningOp())) { // of the same elements
    now = now.getDefiningOp()->getOperand(0);
    add(now, known);
  }
}

void keepPart(Value old, Value now, int64_t axis, int64_t begin) {
  auto type = cast<RankedTensorType>(old.getType()), whole = cast<RankedTensorType>(now.getType());
  int64_t inner = 1;
  for (int64_t d = type.getRank(); --d > axis; inner *= type.getDimSize(d))
    if (type.isDynamicDim(d))
      return;
  if (type.isDynamicDim(axis) || whole.isDynamicDim(axis))
    return;
  int64_t part[] = {begin * inner, type.getDimSize(axis) * inner, whole.getDimSize(axis) * inner};
  SmallVector<ValueAttr> known;
  for (ValueAttr value : valuesOf(old))
    if (value.getPart().empty())
      known.push_back(ValueAttr::get(value.getContext(), value.getResult(), value.getNumber(),
                                     value.getType(), value.getOrder(), part));
  add(now, known);
}

namespace {

struct ValueKeeper : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    if (!previous.isSet()) // it is not moved
      op->removeAttr(valuesName);
  }
  void notifyOperationReplaced(Operation *op, ValueRange now) override {
    // Patterns that copy all attributes copy what is said of other results, too.
    Attribute known = op->getAttr(valuesName);
    for (Value value : now)
      if (Operation *made = value ? value.getDefiningOp() : nullptr;
          known && made && made != op && made->getAttr(valuesName) == known)
        made->removeAttr(valuesName);
    for (auto [old, value] : llvm::zip(op->getResults(), now))
      if (value && isa<RankedTensorType>(old.getType()))
        keepValues(old, value);
  }
};

} // namespace

RewriterBase::Listener *valueKeeper() {
  static ValueKeeper keeper; // without state
  return &keeper;
}

} // namespace tw::graph
