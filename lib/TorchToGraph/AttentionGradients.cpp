// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of scaled dot-product attention: weights are computed again, from scores and the log of
// their exponentials' sum.
#include "TorchToGraph/Builders/Attention.h"
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// A tensor of the backward pass that has the query's heads, grouped as the query is.
Tensor grouped(Lowering &ctx, const Attention &a, const Tensor &x) {
  return a.isGrouped ? splitHeads(ctx, x, ctx.sizeOf(a.key, a.key.rank() - 3)) : x;
}

/// exp(scores - logsumexp), 0 where masked out. What fills up blocks of logsumexp is cut off.
/// Graphs whose forward pass was decomposed hand over the weights in the place of logsumexp.
Tensor recomputedWeights(Lowering &ctx, const Attention &a) {
  Tensor lse = ctx.tensor("logsumexp");
  int64_t rank = a.query.rank() - (a.isGrouped ? 1 : 0);
  if (lse.rank() == rank)
    return castTo(ctx, grouped(ctx, a, lse), contractDType(a.query.dtype));
  if (!ctx.needsRank(lse, rank - 1, "logsumexp"))
    return lse;
  Tensor masked = attentionScores(ctx, a);
  OpFoldResult rows = ctx.sizeOf(a.query, a.query.rank() - 2);
  lse = slice(ctx, lse, lse.rank() - 1, ctx.b.getIndexAttr(0), rows);
  lse = grouped(ctx, a, unsqueeze(ctx, lse, lse.rank()));
  return pointwise(ctx, {masked, lse}, masked.dtype, [](Element &e, ValueRange x) {
    Value isHidden = e.eq(x[0], e.constant(-INFINITY));
    return e.select(isHidden, e.constant(0), e.exp(e.sub(x[0], x[1])));
  });
}

/// P * (dO V' - rowsum(dO * O)): the gradient of the scores.
Tensor scoresGradient(Lowering &ctx, const Attention &a, const Tensor &weights, const Tensor &go) {
  Tensor out = grouped(ctx, a, ctx.tensor("out"));
  Tensor dotted = reduce(
      ctx, {go, {go.rank() - 1}, true}, weights.dtype, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], e.mul(x[1], x[2])); }, out);
  Tensor dWeights = contract(ctx, {go, a.scoreLabels("lf")}, {a.value, a.keyLabels(a.value, "sf")},
                             a.scoreLabels("ls"), weights.dtype);
  return pointwise(ctx, {weights, dWeights, dotted}, weights.dtype,
                   [](Element &e, ValueRange x) { return e.mul(x[0], e.sub(x[1], x[2])); });
}

/// dV = P' dO, dQ = scale dS K, dK = scale dS' Q, where P are the weights and dS is the gradient of
/// the scores. The gradient of the mask, which some overloads yield last, is not computed.
LogicalResult lowerAttentionBackward(Lowering &ctx) {
  Attention a = attentionArguments(ctx, ctx.has("attn_bias") ? "attn_bias" : "attn_mask");
  Tensor go = ctx.tensor(ctx.has("grad_out") ? "grad_out" : "grad_out_");
  SmallVector<int64_t> wanted = ctx.integers("grad_input_mask");
  if (wanted.size() == 4 && wanted[3])
    return ctx.refuse("the gradient of attn_bias is not supported");
  if (ctx.hasRefused())
    return failure();
  int64_t rank = a.query.rank() - (a.isGrouped ? 1 : 0);
  if (!ctx.needsRank(go, rank, "the gradient of the output") ||
      !ctx.needsRank(ctx.tensor("out"), rank, "the output"))
    return failure();
  go = grouped(ctx, a, go);
  Tensor weights = recomputedWeights(ctx, a);
  if (ctx.hasRefused())
    return failure();
  Tensor dScores = scoresGradient(ctx, a, weights, go);
  auto scaled = [&](const Tensor &x, DType result) {
    return pointwise(
        ctx, {x, a.scale}, result, [](Element &e, ValueRange v) { return e.mul(v[0], v[1]); },
        x.dtype);
  };
  DType dtype = weights.dtype;
  std::string ls = a.scoreLabels("ls"), le = a.queryLabels("le"), se = a.keyLabels(a.key, "se");
  Tensor dQuery = scaled(contract(ctx, {dScores, ls}, {a.key, se}, le, dtype), a.query.dtype);
  Tensor dKey = scaled(contract(ctx, {dScores, ls}, {a.query, le}, se, dtype), a.key.dtype);
  Tensor dValue =
      contract(ctx, {weights, ls}, {go, a.scoreLabels("lf")}, a.keyLabels(a.value, "sf"), dtype);
  SmallVector<Operand> results = {a.isGrouped ? mergeHeads(ctx, dQuery, dQuery.rank() - 4) : dQuery,
                                  dKey, castTo(ctx, dValue, a.value.dtype)};
  if (ctx.op->getNumResults() == 4)
    results.push_back(Operand());
  return ctx.done(results);
}

} // namespace

Family attentionGradientsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten._scaled_dot_product_flash_attention_for_cpu_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_flash_attention_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_efficient_attention_backward", lowerAttentionBackward},
  };
  return {"AttentionGradients", rows};
}

} // namespace tw::lower
