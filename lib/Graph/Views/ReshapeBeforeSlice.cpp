// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-reshape-before-slice (Passes.td).
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "Graph/Sizes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_RESHAPEBEFORESLICE
#include "Graph/Passes.h.inc"

namespace {

struct Slicing {
  SmallVector<OpFoldResult> offsets, sizes; // of the expanded source
  SmallVector<int64_t> expandedShape;
};

/// How a slice is taken after the source's dimensions are cut as `expand` cuts the slice's; nothing
/// if parts of it do not begin and end where the slice does.
std::optional<Slicing> slicingAfter(tensor::ExpandShapeOp expand, tensor::ExtractSliceOp slice,
                                    OpBuilder &b) {
  Slicing made;
  auto shape = expand.getResultType().getShape();
  for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices())) {
    OpFoldResult offset = slice.getMixedOffsets()[dim], size = slice.getMixedSizes()[dim];
    int64_t inner = 1;
    for (int64_t part : ArrayRef(group).drop_front()) {
      if (ShapedType::isDynamic(shape[part]))
        return std::nullopt;
      inner *= shape[part];
    }
    int64_t full = slice.getSourceType().getDimSize(dim);
    if (group.size() > 1) {
      auto first = getConstantIntValue(offset), count = getConstantIntValue(size);
      if (!first || !count || ShapedType::isDynamic(full) || inner == 0 || *first % inner != 0 ||
          *count % inner != 0 || full % inner != 0)
        return std::nullopt;
      offset = b.getIndexAttr(*first / inner), size = b.getIndexAttr(*count / inner);
      full /= inner;
    }
    made.offsets.push_back(offset), made.sizes.push_back(size);
    made.expandedShape.push_back(full);
    for (int64_t part : ArrayRef(group).drop_front()) {
      made.offsets.push_back(b.getIndexAttr(0)), made.sizes.push_back(b.getIndexAttr(shape[part]));
      made.expandedShape.push_back(shape[part]);
    }
  }
  return made;
}

struct ExpandBeforeSlice : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp expand,
                                PatternRewriter &rewriter) const override {
    auto slice = expand.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice || !slice.hasUnitStride() || slice.getDroppedDims().any())
      return rewriter.notifyMatchFailure(expand, "it does not cut a slice of as many dimensions");
    auto slicing = slicingAfter(expand, slice, rewriter);
    if (!slicing)
      return rewriter.notifyMatchFailure(expand, "the slice begins or ends inside of a part");
    // Not before: a pattern that does not match must not have made operations.
    SmallVector<OpFoldResult> source = resolvedSizes(slice.getSource(), rewriter), expanded;
    for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices()))
      for (int64_t part : group) {
        int64_t size = slicing->expandedShape[part];
        expanded.push_back(ShapedType::isDynamic(size) ? source[dim]
                                                       : OpFoldResult(rewriter.getIndexAttr(size)));
      }
    auto type = expand.getResultType().clone(slicing->expandedShape);
    Value whole = tensor::ExpandShapeOp::create(rewriter, expand.getLoc(), type, slice.getSource(),
                                                expand.getReassociationIndices(), expanded);
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(expand, expand.getResultType(), whole,
                                                        slicing->offsets, slicing->sizes, strides);
    return success();
  }
};

struct ReshapeBeforeSlice : impl::ReshapeBeforeSliceBase<ReshapeBeforeSlice> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandBeforeSlice>(&getContext());
    if (failed(rewriteOps<tensor::ExpandShapeOp>(getOperation(), std::move(patterns),
                                                 [](tensor::ExpandShapeOp) { return true; })))
      signalPassFailure();
  }
};

} // namespace

} // namespace tw
