// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-fold-unit-reshapes (Passes.td).
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "Graph/Rows.h"
#include "Graph/Views/UnitReshapes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_FOLDUNITRESHAPES
#include "Graph/Passes.h.inc"

namespace {

/// The map into the source of an expand_shape, given the map into its result.
AffineMap throughExpand(tensor::ExpandShapeOp op, AffineMap map) {
  SmallVector<AffineExpr> results;
  for (const ReassociationIndices &group : op.getReassociationIndices())
    results.push_back(map.getResult(carrierOf(op.getResultType(), group)));
  return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
}

/// The map into the source of a collapse_shape, given the map into its result.
AffineMap throughCollapse(tensor::CollapseShapeOp op, AffineMap map) {
  AffineExpr zero = getAffineConstantExpr(0, map.getContext());
  SmallVector<AffineExpr> results(op.getSrcType().getRank(), zero);
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices()))
    results[carrierOf(op.getSrcType(), group)] = map.getResult(i);
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
        if (!addsOnlyUnits(expand))
          continue;
        source = expand.getSrc(), through = throughExpand(expand, map);
      } else if (auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>()) {
        if (!dropsOnlyUnits(collapse))
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

/// The maps of the inputs that are computed by kernels; others are there before the graph runs.
SmallVector<AffineMap> mapsOfComputed(linalg::GenericOp op) {
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (Operation *def = operand->get().getDefiningOp(); def && isCompute(def))
      maps.push_back(op.getMatchingIndexingMap(operand));
  return maps;
}

/// The parallel loops of one iteration that no computed input has, where there is one. A product
/// keeps its own: their order says which of its operands is which.
SmallVector<unsigned> looseUnitLoops(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = mapsOfComputed(op);
  if (maps.empty() || isContraction(op))
    return {};
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  auto iterators = op.getIteratorTypesArray();
  auto isLoose = [&](unsigned loop) {
    return extents[loop] == 1 && iterators[loop] == utils::IteratorType::parallel &&
           llvm::none_of(maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); });
  };
  return llvm::to_vector(llvm::make_filter_range(llvm::seq(op.getNumLoops()), isLoose));
}

struct DropLooseUnitLoops : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    SmallVector<unsigned> loops = looseUnitLoops(op);
    if (loops.empty())
      return rewriter.notifyMatchFailure(op, "each loop is a computed operand's");
    linalg::ControlDropUnitDims control;
    control.controlFn = [&](Operation *) { return loops; };
    auto dropped = linalg::dropUnitDims(rewriter, op, control);
    if (failed(dropped))
      return rewriter.notifyMatchFailure(op, "its loops cannot be dropped");
    rewriter.replaceOp(op, dropped->replacements);
    return success();
  }
};

struct FoldUnitReshapes : impl::FoldUnitReshapesBase<FoldUnitReshapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadThroughReshape, DropLooseUnitLoops>(&getContext());
    // A result begins as the producer does: empty, or filled.
    tensor::populateFoldTensorEmptyPatterns(patterns);
    linalg::FillOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(rewriteOps<linalg::GenericOp>(getOperation(), std::move(patterns), readsReshape)))
      signalPassFailure();
  }
};

} // namespace

} // namespace tw
