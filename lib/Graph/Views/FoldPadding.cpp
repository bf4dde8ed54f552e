// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-fold-padding (Passes.td).
#include "Graph/Passes.h"
#include "Graph/RewriteOps.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_FOLDPADDING
#include "Graph/Passes.h.inc"

namespace {

bool padsWithZero(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  return value && (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()));
}

bool isZero(OpFoldResult size) { return isConstantIntValue(size, 0); }

/// What `pad` puts before each spatial dimension of the input of `conv`; nothing where it pads
/// another dimension too, or where that is known at run time only.
FailureOr<SmallVector<int64_t>> spatialPadding(graph::ConvOp conv, tensor::PadOp pad) {
  SmallVector<OpFoldResult> low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  for (int64_t dim : {int64_t(0), conv.inputChannels()})
    if (!isZero(low[dim]) || !isZero(high[dim]))
      return failure();
  SmallVector<int64_t> padding;
  for (int64_t spatial = 0; spatial < conv.getSpatialRank(); ++spatial) {
    auto size = getConstantIntValue(low[conv.inputDim(spatial)]);
    if (!size || *size < 0)
      return failure();
    padding.push_back(*size);
  }
  return padding;
}

struct PadInConvolution : OpRewritePattern<graph::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::ConvOp conv, PatternRewriter &rewriter) const override {
    auto pad = conv.getInput().getDefiningOp<tensor::PadOp>();
    if (!pad)
      return rewriter.notifyMatchFailure(conv, "its input is not padded");
    if (conv.getTransposed())
      return rewriter.notifyMatchFailure(conv, "a transposed one has elements for the padding");
    if (!padsWithZero(pad))
      return rewriter.notifyMatchFailure(conv,
                                         "its input is padded with something else than zeros");
    auto padding = spatialPadding(conv, pad);
    if (failed(padding))
      return rewriter.notifyMatchFailure(conv, "not only spatial dimensions, by known sizes");
    for (auto [sum, own] : llvm::zip_equal(*padding, conv.getPaddingLow()))
      sum += own;
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getInputMutable().set(pad.getSource());
      conv.setPaddingLow(*padding);
    });
    return success();
  }
};

struct FoldPadding : impl::FoldPaddingBase<FoldPadding> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PadInConvolution>(&getContext());
    auto isPadded = [](graph::ConvOp conv) {
      return bool(conv.getInput().getDefiningOp<tensor::PadOp>());
    };
    if (failed(rewriteOps<graph::ConvOp>(getOperation(), std::move(patterns), isPadded)))
      signalPassFailure();
  }
};

} // namespace

} // namespace tw
