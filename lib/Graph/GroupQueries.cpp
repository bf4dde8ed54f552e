// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention whose keys and values are repeated, head by head, for groups of queries reads each
// once:
//
//   %b = linalg.broadcast %k : tensor<1x8x4096x64xf32> to tensor<1x8x4x4096x64xf32>
//   %r = tensor.collapse_shape %b [[0], [1, 2], [3], [4]] : ... into tensor<1x32x4096x64xf32>
//   %o = tw.attention ins(%q, %r, ...)                    maps (b, h, l, ...) -> (b, h, s, e), ...
// becomes
//   %h = tensor.expand_shape %q [[0], [1, 2], [3], [4]] : ... into tensor<1x8x4x1x64xf32>
//   %p = tw.attention ins(%h, %k, ...)                 maps (b, h, g, l, ...) -> (b, h, s, e), ...
//   %o = tensor.collapse_shape %p
#include "Graph/Moves.h"
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
namespace {

/// A tensor whose elements are repeated `count` times along one axis.
struct Repeated {
  Move move;     // the broadcast, which has an axis for the repetition
  unsigned axis; // of the reshaped tensor: that of the heads and their repetition
  int64_t count;
};

std::optional<Repeated> asRepeated(Value tensor) {
  auto reshape = tensor.getDefiningOp<tensor::CollapseShapeOp>();
  auto move = reshape ? asMove(reshape.getSrc().getDefiningOp()) : std::nullopt;
  if (!move)
    return std::nullopt;
  std::optional<unsigned> axis;
  for (auto [number, group] : llvm::enumerate(reshape.getReassociationIndices())) {
    if (group.size() == 1)
      continue;
    if (axis || group.size() != 2)
      return std::nullopt;
    axis = number;
  }
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

/// The groups that its query can be cut into.
class Grouping {
public:
  explicit Grouping(graph::AttentionInterface op) : op(op), b(op) {}

  /// Whether keys and values are repeated along the same heads.
  bool isFound() {
    key = asRepeated(op.getKey()), value = asRepeated(op.getValue());
    if (!key || !value || key->count != value->count)
      return false;
    auto keyDim = dyn_cast<AffineDimExpr>(op.mapAt(1).getResult(key->axis));
    auto valueDim = dyn_cast<AffineDimExpr>(op.mapAt(2).getResult(value->axis));
    if (!keyDim || keyDim != valueDim || keyDim.getPosition() >= op.batchDims())
      return false;
    head = keyDim.getPosition();
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      if (operand.get() == op.getScale())
        return true;
      auto axis = op.mapOf(operand).getResultPosition(keyDim);
      return !axis || !cast<RankedTensorType>(operand.get().getType()).isDynamicDim(*axis);
    });
  }

  void run() {
    auto made = cast<graph::AttentionInterface>(b.clone(*op));
    graph::setValues(made, {});
    b.setInsertionPoint(made);
    for (unsigned number = 0; number < op.numMapped(); ++number) {
      Repeated *repeated = number == 1 ? &*key : number == 2 ? &*value : nullptr;
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
      for (int64_t size : {type.getDimSize(axis) / key->count, key->count})
        sizes.push_back(b.getIndexAttr(size)), shape.push_back(size);
    }
    if (tensor.getDefiningOp<tensor::EmptyOp>())
      return tensor::EmptyOp::create(b, op.getLoc(), sizes, type.getElementType());
    return tensor::ExpandShapeOp::create(b, op.getLoc(), type.clone(shape), tensor, *groups, sizes);
  }

  graph::AttentionInterface op;
  OpBuilder b;
  std::optional<Repeated> key, value;
  unsigned head = 0; // the dimension of heads
};

struct GroupQueries : PassWrapper<GroupQueries, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GroupQueries)
  StringRef getArgument() const override { return "tw-group-queries"; }
  StringRef getDescription() const override { return "Attention with keys that are not repeated"; }

  void runOnOperation() override {
    SmallVector<graph::AttentionInterface> all;
    getOperation()->walk([&](graph::AttentionInterface op) { all.push_back(op); });
    for (graph::AttentionInterface op : all)
      if (Grouping grouping(op); grouping.isFound())
        grouping.run();
  }
};

} // namespace

std::unique_ptr<Pass> createGroupQueries() { return std::make_unique<GroupQueries>(); }

} // namespace tw
