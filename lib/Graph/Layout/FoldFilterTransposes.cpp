// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-fold-filter-transposes (Passes.td).
#include "Graph/Layout/Moves.h"
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "IR/Graph/Graph.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_FOLDFILTERTRANSPOSES
#include "Graph/Passes.h.inc"

namespace {

/// From [window..., C, O] to [O, C, window...].
AffineMap outputsFirst(unsigned rank, MLIRContext *context) {
  SmallVector<unsigned> order = {rank - 1, rank - 2};
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    order.push_back(dim);
  return AffineMap::getPermutationMap(order, context);
}

struct ReadOutputsFirst : OpRewritePattern<graph::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConvOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != graph::ConvLayout::ChannelsLast || op.getOutputsFirst())
      return rewriter.notifyMatchFailure(op, "it reads filters as they are, or channels first");
    if (op.getTransposed() || op.getGroups() != 1)
      return rewriter.notifyMatchFailure(op, "it is transposed, or has groups");
    auto type = cast<RankedTensorType>(op.getWeight().getType());
    if (!type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "its filters' sizes are known at the call only");
    auto move = asMove(op.getWeight().getDefiningOp());
    if (!move || move->source != outputsFirst(unsigned(type.getRank()), op.getContext()))
      return rewriter.notifyMatchFailure(op, "its filters are not transposed to what it reads");
    if (move->input() == op.getInput())
      return rewriter.notifyMatchFailure(op, "its input is its filters, too");
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightMutable().set(move->input());
      op.setOutputsFirst(true);
    });
    return success();
  }
};

struct FoldFilterTransposes : impl::FoldFilterTransposesBase<FoldFilterTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadOutputsFirst>(&getContext());
    auto isLast = [](graph::ConvOp op) { return op.isWeightLast(); };
    if (failed(rewriteOps<graph::ConvOp>(getOperation(), std::move(patterns), isLast)))
      signalPassFailure();
  }
};

} // namespace

} // namespace tw
