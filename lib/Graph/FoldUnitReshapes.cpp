// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A linalg.generic reads through a reshape that only adds or drops dimensions of size one (what
// keepdim, squeeze and unsqueeze leave behind):
//
//   %m1 = tensor.expand_shape %m [[0, 1]] : tensor<4xf32> into tensor<4x1xf32>
//   generic ins(%x, %m1) maps (d0, d1) -> (d0, d1), (d0, 0)
// becomes
//   generic ins(%x, %m)  maps (d0, d1) -> (d0, d1), (d0)
//
// so that a chain of reductions over the same rows stays one group.
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
namespace {

/// True when every group of `reassociation` has at most one dimension of `type` that is not 1.
bool onlyUnits(RankedTensorType type, ArrayRef<ReassociationIndices> reassociation) {
  return llvm::all_of(reassociation, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t d) { return type.getDimSize(d) != 1; }) <= 1;
  });
}

/// The dimension of a group that is not 1, or its first one.
int64_t carrier(RankedTensorType type, const ReassociationIndices &group) {
  for (int64_t d : group)
    if (type.getDimSize(d) != 1)
      return d;
  return group.front();
}

/// The map into the source of an expand_shape, given the map into its result.
AffineMap throughExpand(tensor::ExpandShapeOp op, AffineMap map) {
  SmallVector<AffineExpr> results;
  for (const ReassociationIndices &group : op.getReassociationIndices())
    results.push_back(map.getResult(carrier(op.getResultType(), group)));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// The map into the source of a collapse_shape, given the map into its result.
AffineMap throughCollapse(tensor::CollapseShapeOp op, AffineMap map) {
  AffineExpr zero = getAffineConstantExpr(0, map.getContext());
  SmallVector<AffineExpr> results(op.getSrcType().getRank(), zero);
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices()))
    results[carrier(op.getSrcType(), group)] = map.getResult(i);
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

bool readsReshape(linalg::GenericOp op) {
  return llvm::any_of(op.getInputs(), [](Value input) {
    return isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(input.getDefiningOp());
  });
}

struct ReadThroughReshape : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(operand), through;
      Value source;
      if (auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>()) {
        if (!onlyUnits(expand.getResultType(), expand.getReassociationIndices()))
          continue;
        source = expand.getSrc(), through = throughExpand(expand, map);
      } else if (auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>()) {
        if (!onlyUnits(collapse.getSrcType(), collapse.getReassociationIndices()))
          continue;
        source = collapse.getSrc(), through = throughCollapse(collapse, map);
      } else {
        continue;
      }
      if (!keepsLoopBounds(op, operand->getOperandNumber(), through))
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      maps[operand->getOperandNumber()] = through;
      rewriter.modifyOpInPlace(op, [&] {
        operand->set(source);
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is a reshape of unit dimensions");
  }

  /// Every loop must still get its bound from some operand.
  static bool keepsLoopBounds(linalg::GenericOp op, unsigned changed, AffineMap through) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[changed] = through;
    llvm::SmallBitVector bound(op.getNumLoops());
    for (AffineMap map : maps)
      for (AffineExpr expr : map.getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          bound.set(dim.getPosition());
    return bound.all();
  }
};

struct FoldUnitReshapes : PassWrapper<FoldUnitReshapes, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldUnitReshapes)
  StringRef getArgument() const override { return "tw-fold-unit-reshapes"; }
  StringRef getDescription() const override { return "Read through reshapes of unit dimensions"; }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadThroughReshape>(&getContext());
    if (failed(rewriteOps<linalg::GenericOp>(getOperation(), std::move(patterns), readsReshape)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createFoldUnitReshapes() { return std::make_unique<FoldUnitReshapes>(); }

} // namespace tw
