// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot-product attention.
#include "TorchToGraph/Builders/Attention.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Pointwise.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Builders/Scalars.h"
#include "TorchToGraph/Builders/Softmax.h"
#include "TorchToGraph/Families.h"

using namespace mlir;

namespace tw::lower {
namespace {

/// What the overloads yield, with heads as the query has them.
struct Attended {
  Tensor output, logSumExp;
};

/// One tw.attention.
Attended attend(Lowering &ctx, const Attention &a, bool wantsSums) {
  SmallVector<Labelled> operands = {{a.query, a.queryLabels("le")},
                                    {a.key, a.keyLabels(a.key, "se")},
                                    {a.value, a.keyLabels(a.value, "sf")}};
  std::string batch = a.scoreLabels("");
  if (a.mask) {
    std::string labels = batch + "ls";
    operands.push_back({*a.mask, labels.substr(labels.size() - a.mask->rank())});
  }
  LabelledLoops loops(ctx, operands, batch + "lsef");
  DType sums = contractDType(a.query.dtype);
  Tensor output = ctx.empty(loops.sizes(batch + "lf"), ctx.resultDType());
  Tensor logSumExp = ctx.empty(loops.sizes(batch + "l"), sums);
  SmallVector<Value> outs = {output.value};
  SmallVector<AffineMap> maps;
  for (const Labelled &operand : operands)
    maps.push_back(loops.mapOf(operand));
  maps.push_back(loops.mapOf({output, batch + "lf"}));
  if (wantsSums) {
    outs.push_back(logSumExp.value);
    maps.push_back(loops.mapOf({logSumExp, batch + "l"}));
  }
  if (ctx.hasRefused())
    return {output, logSumExp};
  auto op = graph::AttentionOp::create(ctx.b, ctx.loc, TypeRange(ValueRange(outs)),
                                       operands[0].tensor.value, operands[1].tensor.value,
                                       operands[2].tensor.value,
                                       a.mask ? operands[3].tensor.value : Value(),
                                       toFloat(ctx, a.scale).materialize(ctx.b, ctx.loc), outs,
                                       ctx.b.getAffineMapArrayAttr(maps), a.isCausal);
  output.value = op.getResult(0);
  if (wantsSums)
    logSumExp.value = op.getResult(1);
  if (!a.isGrouped)
    return {output, logSumExp};
  return {mergeHeads(ctx, output, output.rank() - 4),
          mergeHeads(ctx, logSumExp, logSumExp.rank() - 3)};
}

LogicalResult lowerAttention(Lowering &ctx) {
  Attention a = attentionArguments(ctx, "attn_mask");
  if (ctx.hasRefused())
    return failure();
  return ctx.done(attend(ctx, a, false).output);
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
  Tensor output = attend(ctx, a, false).output;
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
  Attended attended = attend(ctx, a, hasSums && !ctx.op->getResult(1).use_empty());
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
