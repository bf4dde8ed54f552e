// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-read-captured-views (Passes.td).
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "Graph/Rows.h"
#include "Graph/Views/UnitReshapes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_READCAPTUREDVIEWS
#include "Graph/Passes.h.inc"

namespace {

SmallVector<Value> indicesInSource(tensor::ExtractSliceOp slice, ValueRange indices, OpBuilder &b) {
  Location loc = slice.getLoc();
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<Value> found;
  for (auto [dim, offset] : llvm::enumerate(slice.getMixedOffsets())) {
    Value first = getValueOrCreateConstantIndexOp(b, loc, offset);
    if (dropped[dim]) {
      found.push_back(first);
      continue;
    }
    Value index = indices.front();
    indices = indices.drop_front();
    if (!isConstantIntValue(slice.getMixedStrides()[dim], 1))
      index = b.createOrFold<arith::MulIOp>(
          loc, index, getValueOrCreateConstantIndexOp(b, loc, slice.getMixedStrides()[dim]));
    if (!isConstantIntValue(offset, 0))
      index = b.createOrFold<arith::AddIOp>(loc, index, first);
    found.push_back(index);
  }
  return found;
}

SmallVector<Value> indicesInSource(tensor::ExpandShapeOp expand, ValueRange indices, OpBuilder &) {
  SmallVector<Value> found;
  for (const ReassociationIndices &group : expand.getReassociationIndices())
    found.push_back(indices[carrierOf(expand.getResultType(), group)]);
  return found;
}

SmallVector<Value> indicesInSource(tensor::CollapseShapeOp collapse, ValueRange indices,
                                   OpBuilder &b) {
  Value zero = arith::ConstantIndexOp::create(b, collapse.getLoc(), 0);
  SmallVector<Value> found(collapse.getSrcType().getRank(), zero);
  for (auto [index, group] : llvm::zip_equal(indices, collapse.getReassociationIndices()))
    found[carrierOf(collapse.getSrcType(), group)] = index;
  return found;
}

SmallVector<Value> indicesInSource(linalg::GenericOp repeated, ValueRange indices, OpBuilder &b) {
  SmallVector<Value> found;
  for (AffineExpr at : repeated.getIndexingMapsArray().front().getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(at);
    found.push_back(dim ? indices[dim.getPosition()]
                        : arith::ConstantIndexOp::create(b, repeated.getLoc(), 0).getResult());
  }
  return found;
}

/// Whether each element is one of the only input, which has fewer: an expanded tensor.
bool isPlainView(linalg::GenericOp repeated) {
  if (repeated.getNumDpsInputs() != 1 || repeated.getNumResults() != 1 ||
      repeated.getNumParallelLoops() != repeated.getNumLoops())
    return false;
  AffineMap read = repeated.getIndexingMapsArray().front();
  auto isPlace = [](AffineExpr at) {
    auto constant = dyn_cast<AffineConstantExpr>(at);
    return isa<AffineDimExpr>(at) || (constant && constant.getValue() == 0);
  };
  Block &body = *repeated.getBody();
  return repeated.getIndexingMapsArray().back().isIdentity() &&
         llvm::all_of(read.getResults(), isPlace) &&
         llvm::count_if(read.getResults(), llvm::IsaPred<AffineDimExpr>) < read.getNumDims() &&
         llvm::hasSingleElement(body) && body.getTerminator()->getOperand(0) == body.getArgument(0);
}

bool isPlainView(tensor::ExtractSliceOp) { return true; }
bool isPlainView(tensor::ExpandShapeOp expand) { return addsOnlyUnits(expand); }
bool isPlainView(tensor::CollapseShapeOp collapse) { return dropsOnlyUnits(collapse); }

/// Whether `op` is in the body of what becomes a kernel, maybe in a loop there.
bool isInBody(Operation *op) {
  while ((op = op->getParentOp()))
    if (isCompute(op))
      return true;
  return false;
}

template <typename View>
struct ReadThrough : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp extract,
                                PatternRewriter &rewriter) const override {
    auto view = extract.getTensor().getDefiningOp<View>();
    if (!view || !isPlainView(view))
      return rewriter.notifyMatchFailure(extract, "it does not read such a view");
    if (!isInBody(extract) || isInBody(view))
      return rewriter.notifyMatchFailure(extract, "the view is not captured by a body");
    SmallVector<Value> indices = indicesInSource(view, extract.getIndices(), rewriter);
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(extract, view->getOperand(0), indices);
    return success();
  }
};

struct ReadCapturedViews : impl::ReadCapturedViewsBase<ReadCapturedViews> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadThrough<tensor::ExtractSliceOp>, ReadThrough<tensor::ExpandShapeOp>,
                 ReadThrough<tensor::CollapseShapeOp>, ReadThrough<linalg::GenericOp>>(
        &getContext());
    auto readsView = [](tensor::ExtractOp extract) {
      Operation *def = extract.getTensor().getDefiningOp();
      return def && (isView(def) || isa<linalg::GenericOp>(def));
    };
    if (failed(rewriteOps<tensor::ExtractOp>(getOperation(), std::move(patterns), readsView)))
      signalPassFailure();
  }
};

} // namespace

} // namespace tw
