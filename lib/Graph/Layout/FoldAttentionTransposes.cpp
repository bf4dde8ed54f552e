// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-fold-attention-transposes (Passes.td).
#include "Graph/Layout/Moves.h"
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_FOLDATTENTIONTRANSPOSES
#include "Graph/Passes.h.inc"

namespace {

/// All but the mask must go on running along all that they have to, and something along each
/// dimension.
bool keepsDims(graph::AttentionInterface op, unsigned number, AffineMap before, AffineMap after) {
  bool isMask = op.getMask() && number == 3;
  auto isLost = [&](unsigned dim) {
    return before.isFunctionOfDim(dim) && !after.isFunctionOfDim(dim);
  };
  auto isElsewhere = [&](unsigned dim) {
    return llvm::any_of(llvm::seq<unsigned>(op.getIndexingMaps().size()), [&](unsigned other) {
      return other != number && op.mapAt(other).isFunctionOfDim(dim);
    });
  };
  return llvm::none_of(llvm::seq(before.getNumDims()), [&](unsigned dim) {
    return isLost(dim) && !(dim < op.batchDims() ? isElsewhere(dim) : isMask);
  });
}

void foldOperands(graph::AttentionInterface op) {
  for (unsigned number = 0; number < op.numMapped(); ++number) {
    OpOperand &operand = op->getOpOperand(number);
    while (auto move = asMove(operand.get().getDefiningOp())) {
      AffineMap before = op.mapAt(number), after = move->source.compose(before);
      if (!keepsDims(op, number, before, after))
        break;
      op.setMap(number, after);
      operand.set(move->input());
    }
  }
}

/// The one reader of a result that only transposes it gives it its layout.
void foldResult(graph::AttentionInterface op, OpResult result) {
  unsigned number = result.getResultNumber();
  while (result.hasOneUse()) {
    auto move = asMove(*result.user_begin());
    if (!move || !move->source.isPermutation())
      return;
    AffineMap output = op.resultMap(number);
    OpBuilder b(op);
    SmallVector<OpFoldResult> sizes = resolvedSizes(op.getOuts()[number], b), moved(sizes.size());
    SmallVector<AffineExpr> axes(sizes.size());
    for (auto [axis, expr] : llvm::enumerate(move->source.getResults())) {
      unsigned to = cast<AffineDimExpr>(expr).getPosition();
      axes[to] = output.getResult(axis);
      moved[to] = sizes[axis];
    }
    auto type = cast<RankedTensorType>(move->result().getType());
    op.setMap(op.numMapped() + number,
              AffineMap::get(output.getNumDims(), 0, axes, op.getContext()));
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), moved, type.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(b, op.getLoc(), type, empty);
    op.getOutsMutable()[number].set(empty);
    result.setType(type);
    graph::setValues(op, llvm::filter_to_vector(graph::valuesOf(op), [&](graph::ValueAttr value) {
                       return value.getResult() != number; // which is the move's now
                     }));
    graph::keepValues(move->result(), result);
    move->result().replaceAllUsesWith(result);
    move->op->erase();
  }
}

struct FoldAttentionTransposes : impl::FoldAttentionTransposesBase<FoldAttentionTransposes> {
  void runOnOperation() override {
    SmallVector<graph::AttentionInterface> all;
    getOperation()->walk([&](graph::AttentionInterface op) { all.push_back(op); });
    for (graph::AttentionInterface op : all) {
      foldOperands(op);
      for (OpResult result : op->getResults())
        foldResult(op, result);
    }
  }
};

} // namespace

} // namespace tw
