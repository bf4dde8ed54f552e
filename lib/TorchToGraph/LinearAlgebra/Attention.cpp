// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot-product attention.
#include "TorchToGraph/Builders/Attention.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Elementwise/Scalars.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Softmax.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"

using namespace mlir;

namespace tw::lower {
namespace {

/// With heads as the query has them.
Attended merged(Lowering &ctx, const Attention &a, const Attended &attended) {
  if (!a.isGrouped)
    return attended;
  return {mergeHeads(ctx, attended.output, attended.output.rank() - 4),
          mergeHeads(ctx, attended.logSumExp, attended.logSumExp.rank() - 3)};
}

LogicalResult lowerAttention(Lowering &ctx) {
  Attention a = attentionArguments(ctx, "attn_mask");
  if (ctx.hasRefused())
    return failure();
  return ctx.done(merged(ctx, a, attend(ctx, a, false)).output);
}

/// The overload that yields the weights, too.
LogicalResult lowerMathAttention(Lowering &ctx) {
  if (ctx.has("dropout_mask"))
    return ctx.refuse("a dropout_mask is not supported");
  Attention a = attentionArguments(ctx, "attn_mask");
  if (ctx.hasRefused())
    return failure();
  if (a.mask) // this overload adds a mask of bools too
    a.mask = castTo(ctx, *a.mask, opmath(a.query.dtype));
  Tensor output = merged(ctx, a, attend(ctx, a, false)).output;
  Tensor scores = attentionScores(ctx, a);
  // Only a mask can hide everything from a query, which then gets zeros.
  Tensor weights = softmaxOf(ctx, softmaxParts(ctx, scores, {scores.rank() - 1}),
                             ctx.resultDType(1), a.mask.has_value());
  return ctx.done({output, a.isGrouped ? mergeHeads(ctx, weights, weights.rank() - 4) : weights});
}

/// What a result that only a GPU's backward pass reads is here: zeros of its type.
Operand unusedResult(Lowering &ctx, unsigned i, const Attention &a) {
  if (!isa<torch::ValueTensorType>(ctx.op->getResult(i).getType()))
    return Scalar{Scalar::Kind::Int,
                  ctx.sizeOf(i == 4 ? a.query : a.key, (i == 4 ? a.query : a.key).rank() - 2)};
  SmallVector<OpFoldResult> sizes(ctx.resultRank(i), ctx.b.getIndexAttr(0));
  return ctx.filled(ctx.refined(sizes, i), ctx.resultDType(i),
                    Scalar::ofInt(ctx.b.getContext(), 0));
}

/// log(sum of exponentials) of each row, result 1. The "efficient" kernel fills up blocks of 32.
Operand paddedSums(Lowering &ctx, const Tensor &result) {
  if (!ctx.name().ends_with("_efficient_attention"))
    return castTo(ctx, result, ctx.resultDType(1));
  IndexMath m{ctx.b, ctx.loc};
  int64_t last = result.rank() - 1;
  OpFoldResult rows = ctx.sizeOf(result, last), block = m.constant(32);
  SmallVector<OpFoldResult> low(last + 1, m.constant(0)), high = low;
  high.back() = m.sub(m.mul(m.ceilDiv(rows, block), block), rows);
  return pad(ctx, castTo(ctx, result, ctx.resultDType(1)), low, high,
             Scalar::ofInt(ctx.b.getContext(), 0));
}

/// The overloads that yield (output, logsumexp, and what a device's backward pass reads).
LogicalResult lowerFusedAttention(Lowering &ctx) {
  Attention a = attentionArguments(ctx, ctx.has("attn_bias") ? "attn_bias" : "attn_mask");
  if (ctx.hasRefused())
    return failure();
  bool hasSums = ctx.flag("compute_log_sumexp", true);
  Attended attended = merged(ctx, a, attend(ctx, a, hasSums && !ctx.op->getResult(1).use_empty()));
  SmallVector<Operand> results = {attended.output};
  if (hasSums)
    results.push_back(paddedSums(ctx, attended.logSumExp));
  for (unsigned i = results.size(); i < ctx.op->getNumResults(); ++i)
    results.push_back(unusedResult(ctx, i, a));
  return ctx.done(results);
}

} // namespace

Family attentionFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.scaled_dot_product_attention", lowerAttention},
      {"torch.aten._scaled_dot_product_attention_math", lowerMathAttention},
      {"torch.aten._scaled_dot_product_flash_attention_for_cpu", lowerFusedAttention},
      {"torch.aten._scaled_dot_product_flash_attention", lowerFusedAttention},
      {"torch.aten._scaled_dot_product_efficient_attention", lowerFusedAttention},
      {"torch.aten._scaled_dot_product_cudnn_attention", lowerFusedAttention},
      {"torch.aten._scaled_dot_product_fused_attention_overrideable", lowerFusedAttention},
  };
  return {"Attention", rows};
}

} // namespace tw::lower
