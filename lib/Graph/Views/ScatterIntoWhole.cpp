// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-scatter-into-whole (Passes.td).
#include "Graph/Passes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_SCATTERINTOWHOLE
#include "Graph/Passes.h.inc"

namespace {

/// Scatters, each into the result of the one before, whose last result is put back where the first
/// init is a slice of.
struct SliceUpdate {
  tensor::InsertSliceOp insert;
  tensor::ExtractSliceOp slice;
  SmallVector<graph::ScatterOp> scatters; // the last first
  tensor::CollapseShapeOp collapse;       // of the slice; null: none
};

bool isSame(ArrayRef<OpFoldResult> x, ArrayRef<OpFoldResult> y) {
  return x.size() == y.size() && llvm::equal(x, y) &&
         llvm::all_of(x, [](OpFoldResult one) { return isa<Attribute>(one); });
}

/// What is left of a slice's shape where at most one dimension of each group is not 1.
bool joinsUnits(tensor::CollapseShapeOp collapse) {
  auto shape = collapse.getSrcType().getShape();
  return llvm::all_of(collapse.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) <= 1;
  });
}

std::optional<SliceUpdate> sliceUpdate(tensor::InsertSliceOp insert) {
  SliceUpdate found{insert, {}, {}, {}};
  Value source = insert.getSource();
  auto expand = source.getDefiningOp<tensor::ExpandShapeOp>();
  Value init = expand ? expand.getSrc() : source;
  while (auto scatter = init.getDefiningOp<graph::ScatterOp>()) {
    found.scatters.push_back(scatter);
    init = scatter.getInit();
  }
  if (found.scatters.empty())
    return std::nullopt;
  found.collapse = init.getDefiningOp<tensor::CollapseShapeOp>();
  found.slice =
      (found.collapse ? found.collapse.getSrc() : init).getDefiningOp<tensor::ExtractSliceOp>();
  bool isInverse =
      bool(expand) == bool(found.collapse) &&
      (!expand || (expand.getReassociationIndices() == found.collapse.getReassociationIndices() &&
                   joinsUnits(found.collapse)));
  bool isPutBack = found.slice && found.slice.getSource() == insert.getDest() &&
                   found.slice.getType() == insert.getSourceType() &&
                   found.slice.getType().getRank() == insert.getType().getRank() &&
                   insert.getType().hasStaticShape() && insert.hasUnitStride() &&
                   found.slice.hasUnitStride() &&
                   isSame(insert.getMixedOffsets(), found.slice.getMixedOffsets()) &&
                   isSame(insert.getMixedSizes(), found.slice.getMixedSizes());
  return isInverse && isPutBack ? std::optional(found) : std::nullopt;
}

/// The coordinates in the whole of what has `coordinates` in the slice, or in what it is collapsed
/// to.
SmallVector<Value> wholeCoordinates(SliceUpdate update, ValueRange coordinates, OpBuilder &b) {
  Location loc = update.insert.getLoc();
  auto number = [&](int64_t n) -> Value { return arith::ConstantIndexOp::create(b, loc, n); };
  int64_t rank = update.slice.getType().getRank();
  SmallVector<Value> whole(rank);
  auto shape = update.slice.getType().getShape();
  for (auto [i, coordinate] : llvm::enumerate(coordinates)) {
    SmallVector<int64_t> group{int64_t(i)};
    if (tensor::CollapseShapeOp collapse = update.collapse)
      group.assign(collapse.getReassociationIndices()[i]);
    auto own = llvm::find_if(group, [&](int64_t dim) { return shape[dim] != 1; });
    whole[own == group.end() ? group.front() : *own] = coordinate;
  }
  for (auto [dim, offset] : llvm::enumerate(update.slice.getMixedOffsets())) {
    int64_t first = *getConstantIntValue(offset);
    if (!whole[dim])
      whole[dim] = number(first);
    else if (first != 0)
      whole[dim] = arith::AddIOp::create(b, loc, whole[dim], number(first));
  }
  return whole;
}

/// The same scatter into `whole`; those that read its result read a slice of the new one.
Value scatterInto(Value whole, graph::ScatterOp scatter, const SliceUpdate &update) {
  OpBuilder b(scatter);
  auto made = cast<graph::ScatterOp>(b.clone(*scatter));
  graph::setValues(made, {});
  made.getInitMutable().set(whole);
  made.getResult().setType(cast<RankedTensorType>(whole.getType()));
  Operation *yield = made.getBody().front().getTerminator();
  b.setInsertionPoint(yield);
  SmallVector<Value> yielded = wholeCoordinates(update, yield->getOperands().drop_back(), b);
  yielded.push_back(yield->getOperands().back());
  yield->setOperands(yielded);
  b.setInsertionPointAfter(made);
  auto slice = cast<tensor::ExtractSliceOp>(b.clone(*update.slice));
  graph::setValues(slice, {});
  slice.getSourceMutable().set(made.getResult());
  Value part = slice.getResult();
  if (tensor::CollapseShapeOp collapse = update.collapse)
    part = tensor::CollapseShapeOp::create(b, scatter.getLoc(), part,
                                           collapse.getReassociationIndices());
  graph::keepValues(scatter.getResult(), part);
  scatter.getResult().replaceAllUsesWith(part);
  return made.getResult();
}

void updateWhole(SliceUpdate update) {
  Value whole = update.insert.getDest();
  for (graph::ScatterOp scatter : llvm::reverse(update.scatters))
    whole = scatterInto(whole, scatter, update);
  graph::keepValues(update.insert.getResult(), whole);
  update.insert.getResult().replaceAllUsesWith(whole);
  update.insert.erase();
  for (graph::ScatterOp scatter : update.scatters)
    if (scatter->use_empty())
      scatter.erase();
}

struct ScatterIntoWhole : impl::ScatterIntoWholeBase<ScatterIntoWhole> {
  void runOnOperation() override {
    SmallVector<tensor::InsertSliceOp> inserts;
    getOperation()->walk([&](tensor::InsertSliceOp insert) { inserts.push_back(insert); });
    for (tensor::InsertSliceOp insert : inserts)
      if (auto update = sliceUpdate(insert))
        updateWhole(*update);
  }
};

} // namespace

} // namespace tw
