// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-group-queries (Passes.td).
#include "Graph/Layout/Moves.h"
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_GROUPQUERIES
#include "Graph/Passes.h.inc"

namespace {

/// A tensor whose elements are repeated `count` times along one axis.
struct Repeated {
  Move move;     // the broadcast, which has an axis for the repetition
  unsigned axis; // of the reshaped tensor: that of the heads and their repetition
  int64_t count;
};

/// The axis that a reshape makes of two, or cuts in two, if it keeps all others.
std::optional<unsigned> onlyPair(ArrayRef<ReassociationIndices> groups) {
  std::optional<unsigned> axis;
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (group.size() == 1)
      continue;
    if (axis || group.size() != 2)
      return std::nullopt;
    axis = number;
  }
  return axis;
}

std::optional<Repeated> asRepeated(Value tensor) {
  auto reshape = tensor.getDefiningOp<tensor::CollapseShapeOp>();
  auto move = reshape ? asMove(reshape.getSrc().getDefiningOp()) : std::nullopt;
  if (!move)
    return std::nullopt;
  auto axis = onlyPair(reshape.getReassociationIndices());
  if (!axis)
    return std::nullopt;
  int64_t repetition = reshape.getReassociationIndices()[*axis][1];
  int64_t heads = reshape.getSrcType().getDimSize(repetition - 1),
          count = reshape.getSrcType().getDimSize(repetition);
  if (move->source.isFunctionOfDim(repetition) || ShapedType::isDynamic(count) ||
      ShapedType::isDynamic(heads))
    return std::nullopt;
  return Repeated{*move, *axis, count};
}

/// Where a reshape cuts one axis in two.
struct Cut {
  unsigned axis;
  int64_t count; // of the second one
};

/// Of a result that is only read to be summed over groups of one axis.
std::optional<Cut> asSummedGroups(OpResult result) {
  auto reshape = result.hasOneUse() ? dyn_cast<tensor::ExpandShapeOp>(*result.user_begin())
                                    : tensor::ExpandShapeOp();
  auto sum = reshape && reshape->hasOneUse() ? dyn_cast<linalg::GenericOp>(*reshape->user_begin())
                                             : linalg::GenericOp();
  if (!sum || !sum.getIndexingMapsArray()[0].isPermutation())
    return std::nullopt;
  auto axis = onlyPair(reshape.getReassociationIndices());
  if (!axis)
    return std::nullopt;
  int64_t groups = reshape.getReassociationIndices()[*axis][1];
  int64_t count = reshape.getResultType().getDimSize(groups);
  auto loop = cast<AffineDimExpr>(sum.getIndexingMapsArray()[0].getResult(groups));
  bool isSummed = sum.getIteratorTypesArray()[loop.getPosition()] == utils::IteratorType::reduction;
  return isSummed && !ShapedType::isDynamic(count) ? std::optional(Cut{*axis, count})
                                                   : std::nullopt;
}

/// The groups that its query can be cut into.
class Grouping {
public:
  explicit Grouping(graph::AttentionInterface op) : op(op), b(op) {}

  bool isFound() {
    if (!areKeysRepeated() && !areGradientsSummed())
      return false;
    AffineExpr dim = getAffineDimExpr(head, op.getContext());
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      if (operand.get() == op.getScale())
        return true;
      auto axis = op.mapOf(operand).getResultPosition(dim);
      return !axis || !cast<RankedTensorType>(operand.get().getType()).isDynamicDim(*axis);
    });
  }

  void run() {
    auto made = cast<graph::AttentionInterface>(b.clone(*op));
    graph::setValues(made, {});
    b.setInsertionPoint(made);
    for (unsigned number = 0; number < op.numMapped(); ++number) {
      Repeated *repeated = !key ? nullptr : number == 1 ? &*key : number == 2 ? &*value : nullptr;
      AffineMap map = cut(op.mapAt(number));
      made->setOperand(number, repeated ? repeated->move.input()
                                        : expanded(op->getOperand(number), op.mapAt(number)));
      made.setMap(number, repeated ? repeated->move.source.compose(map) : map);
    }
    for (auto [number, out] : llvm::enumerate(op.getOuts())) {
      AffineMap map = op.resultMap(number);
      Value grouped = expanded(out, map);
      made.getOutsMutable()[number].set(grouped);
      made.setMap(op.numMapped() + number, cut(map));
      made->getResult(number).setType(grouped.getType());
      Value whole = made->getResult(number);
      if (auto groups = groupsOf(map)) {
        OpBuilder behind(op);
        whole = tensor::CollapseShapeOp::create(behind, op.getLoc(), out.getType(), whole, *groups);
      }
      graph::keepValues(op->getResult(number), whole);
      op->getResult(number).replaceAllUsesWith(whole);
    }
    op.erase();
  }

private:
  /// Whether keys and values are repeated along the same heads.
  bool areKeysRepeated() {
    key = asRepeated(op.getKey()), value = asRepeated(op.getValue());
    if (key && value && isAlongHeads(op.mapAt(1), {key->axis, key->count}) &&
        isAlongHeads(op.mapAt(2), {value->axis, value->count}))
      return true;
    key.reset(), value.reset(), found.reset();
    return false;
  }

  /// Whether the gradients of keys and values are summed over groups of the same heads.
  bool areGradientsSummed() {
    auto gradient = dyn_cast<graph::AttentionGradientOp>(op.getOperation());
    if (!gradient)
      return false;
    for (auto [number, input] : llvm::enumerate(gradient.inputs())) {
      if (input == graph::AttentionInput::Query)
        continue;
      auto cut = asSummedGroups(op->getResult(number));
      if (!cut || !isAlongHeads(op.resultMap(number), *cut))
        return false;
    }
    return found.has_value();
  }

  /// Whether the axis runs along a dimension of the batch, and this one and the count are those
  /// that were found before.
  bool isAlongHeads(AffineMap map, Cut cut) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(cut.axis));
    if (!dim || dim.getPosition() >= op.batchDims() ||
        (found && (head != dim.getPosition() || *found != cut.count)))
      return false;
    head = dim.getPosition(), found = cut.count;
    return true;
  }

  /// A map over one more dimension, the group, which follows that of the heads; what runs along
  /// heads has an axis for each.
  AffineMap cut(AffineMap map) {
    MLIRContext *context = op.getContext();
    SmallVector<AffineExpr> results, shifted;
    for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
      shifted.push_back(getAffineDimExpr(dim > head ? dim + 1 : dim, context));
    for (AffineExpr expr : map.getResults()) {
      results.push_back(expr.replaceDims(shifted));
      if (expr == getAffineDimExpr(head, context))
        results.push_back(getAffineDimExpr(head + 1, context));
    }
    return AffineMap::get(map.getNumDims() + 1, 0, results, context);
  }

  /// Which axes of the cut tensor each one is; nothing if it does not run along heads.
  std::optional<SmallVector<ReassociationIndices>> groupsOf(AffineMap map) {
    SmallVector<ReassociationIndices> groups;
    int64_t next = 0;
    for (AffineExpr expr : map.getResults()) {
      groups.push_back({next++});
      if (expr == getAffineDimExpr(head, op.getContext()))
        groups.back().push_back(next++);
    }
    return next == int64_t(map.getNumResults()) ? std::nullopt : std::optional(groups);
  }

  Value expanded(Value tensor, AffineMap map) {
    auto groups = groupsOf(map);
    if (!groups)
      return tensor;
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<OpFoldResult> all = resolvedSizes(tensor, b), sizes;
    SmallVector<int64_t> shape;
    for (auto [axis, group] : llvm::enumerate(*groups)) {
      if (group.size() == 1) {
        sizes.push_back(all[axis]), shape.push_back(type.getDimSize(axis));
        continue;
      }
      for (int64_t size : {type.getDimSize(axis) / *found, *found})
        sizes.push_back(b.getIndexAttr(size)), shape.push_back(size);
    }
    if (tensor.getDefiningOp<tensor::EmptyOp>())
      return tensor::EmptyOp::create(b, op.getLoc(), sizes, type.getElementType());
    return tensor::ExpandShapeOp::create(b, op.getLoc(), type.clone(shape), tensor, *groups, sizes);
  }

  graph::AttentionInterface op;
  OpBuilder b;
  std::optional<Repeated> key, value;
  std::optional<int64_t> found; // how many heads of the query a group has
  unsigned head = 0;            // the dimension of heads
};

struct GroupQueries : impl::GroupQueriesBase<GroupQueries> {
  void runOnOperation() override {
    SmallVector<graph::AttentionInterface> all;
    getOperation()->walk([&](graph::AttentionInterface op) { all.push_back(op); });
    for (graph::AttentionInterface op : all)
      if (Grouping grouping(op); grouping.isFound())
        grouping.run();
  }
};

} // namespace

} // namespace tw
