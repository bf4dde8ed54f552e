// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot-product attention and its gradients: a contraction, one elementwise op that scales and
// masks, a softmax, a contraction.
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Builders/Softmax.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// query [batch..., L, E], key [batch..., S, E], value [batch..., S, F]. With grouped queries the
/// query is [batch..., heads, group, L, E] and the letter of the group is absent from key and
/// value.
struct Attention {
  Tensor query, key, value;
  std::optional<Tensor> mask; // broadcasts against [query's batch..., L, S]
  bool isCausal = false, isGrouped = false;
  Scalar scale;

  /// "ABC": letters of the last `count` dimensions before the matrix.
  std::string batch(int64_t count) const {
    std::string letters = "ABCDEFGHIJKLMN";
    return letters.substr(letters.size() - count);
  }
  std::string queryLabels(const char *matrix) const { return batch(query.rank() - 2) + matrix; }
  std::string keyLabels(const Tensor &x, const char *matrix) const {
    if (!isGrouped)
      return batch(x.rank() - 2) + matrix;
    std::string letters = batch(x.rank() - 1);
    letters.pop_back();
    return letters + matrix;
  }
  /// Those of [batch..., L, S], in which query, key and value broadcast.
  std::string scoreLabels(const char *matrix) const {
    return batch(std::max({query.rank(), key.rank() + isGrouped, value.rank() + isGrouped}) - 2) +
           matrix;
  }
};

/// Dimension -3 of x as [heads, its size / heads].
Tensor splitHeads(Lowering &ctx, const Tensor &x, OpFoldResult heads) {
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(x);
  OpFoldResult &all = sizes[sizes.size() - 3];
  OpFoldResult group = IndexMath{ctx.b, ctx.loc}.floorDiv(all, heads);
  all = heads;
  sizes.insert(sizes.end() - 2, group);
  return reshape(ctx, x, sizes);
}

/// The reverse: dimensions -4 and -3 as one.
Tensor mergeHeads(Lowering &ctx, const Tensor &x) {
  return flatten(ctx, x, x.rank() - 4, x.rank() - 3);
}

/// Where there are more heads of the query than of the key, consecutive ones share a head. Only
/// some overloads have a flag for that.
void groupHeads(Lowering &ctx, Attention &a) {
  if (a.query.rank() < 3 || a.key.rank() < 3 || a.value.rank() < 3)
    return;
  auto heads = [&](const Tensor &x) { return ctx.sizeOf(x, x.rank() - 3); };
  OpFoldResult queries = heads(a.query), keys = heads(a.key);
  auto all = constantOf(queries), few = constantOf(keys);
  bool isWanted =
      ctx.flag("enable_gqa") ? !knownEqual(queries, keys) : all && few && *all > *few && *few > 1;
  if (!isWanted)
    return;
  ctx.requireEqual(keys, heads(a.value));
  if (all && few && (*few == 0 || *all % *few != 0)) {
    ctx.refuse("the " + Twine(*all) + " heads of the query are not a multiple of the key's " +
               Twine(*few));
    return;
  }
  a.isGrouped = true;
  a.query = splitHeads(ctx, a.query, keys);
  if (a.mask && a.mask->rank() >= 3)
    a.mask = a.mask->size(a.mask->rank() - 3) == 1 ? unsqueeze(ctx, *a.mask, a.mask->rank() - 2)
                                                   : splitHeads(ctx, *a.mask, keys);
}

/// 1 / sqrt(width of a head), computed by the program where the width is open.
Scalar defaultScale(Lowering &ctx, OpFoldResult width) {
  if (auto known = constantOf(width))
    return Scalar::ofFloat(ctx.b.getContext(), 1 / std::sqrt(double(*known)));
  Type f64 = ctx.b.getF64Type();
  Value size = arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getI64Type(),
                                          IndexMath{ctx.b, ctx.loc}.value(width));
  Value root =
      math::SqrtOp::create(ctx.b, ctx.loc, arith::SIToFPOp::create(ctx.b, ctx.loc, f64, size));
  Value one = arith::ConstantOp::create(ctx.b, ctx.loc, ctx.b.getF64FloatAttr(1));
  return {Scalar::Kind::Float, arith::DivFOp::create(ctx.b, ctx.loc, one, root).getResult()};
}

/// The arguments that all overloads have; refuses dropout.
Attention argumentsOf(Lowering &ctx, StringRef maskName) {
  Attention a{ctx.tensor("query"),
              ctx.tensor("key"),
              ctx.tensor("value"),
              ctx.optTensor(maskName),
              ctx.flag("is_causal"),
              false,
              Scalar::ofFloat(ctx.b.getContext(), 1)};
  if (ctx.number("dropout_p") != 0)
    ctx.refuse("with dropout_p > 0 it draws random numbers; export the model in eval mode or with "
               "dropout_p = 0");
  int64_t most = std::max({a.query.rank(), a.key.rank(), a.value.rank()});
  if (std::min({a.query.rank(), a.key.rank(), a.value.rank()}) < 2 || most > 12)
    ctx.refuse("query, key and value need 2 to 12 dimensions");
  if (ctx.hasRefused())
    return a;
  if (ctx.has("scale"))
    a.scale = ctx.scalar("scale");
  else
    a.scale = defaultScale(ctx, ctx.sizeOf(a.query, a.query.rank() - 1));
  if (a.mask && a.mask->rank() > most)
    ctx.refuse("the mask has " + Twine(a.mask->rank()) + " dimensions, the other tensors have " +
               Twine(most));
  groupHeads(ctx, a);
  return a;
}

/// Whether query l may see key s: s <= l.
Value isVisible(OpBuilder &b, Location loc, int64_t rank) {
  Value l = linalg::IndexOp::create(b, loc, rank - 2),
        s = linalg::IndexOp::create(b, loc, rank - 1);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, s, l);
}

/// scale * query . key, -inf where masked out: [batch..., L, S] in opmath.
Tensor scores(Lowering &ctx, const Attention &a) {
  Tensor product = contract(ctx, {a.query, a.queryLabels("le")}, {a.key, a.keyLabels(a.key, "se")},
                            a.scoreLabels("ls"), contractDType(a.query.dtype));
  SmallVector<TypedInput> inputs = {{product, product.dtype}, {a.scale, product.dtype}};
  bool isBool = a.mask && a.mask->dtype == DType::Bool;
  if (a.mask)
    inputs.push_back({*a.mask, isBool ? DType::Bool : product.dtype});
  return pointwiseTyped(ctx, inputs, product.dtype, [&](OpBuilder &b, Location loc, ValueRange x) {
    Element e(b, loc, product.dtype);
    Value score = e.mul(x[0], x[1]), hidden = e.constant(-INFINITY);
    if (a.mask)
      score = isBool ? e.select(x[2], score, hidden) : e.add(score, x[2]);
    return a.isCausal ? e.select(isVisible(b, loc, product.rank()), score, hidden) : score;
  });
}

/// weights . value: [batch..., L, F], not rounded.
Tensor weigh(Lowering &ctx, const Attention &a, const Tensor &weights) {
  return contract(ctx, {weights, a.scoreLabels("ls")}, {a.value, a.keyLabels(a.value, "sf")},
                  a.scoreLabels("lf"), weights.dtype);
}

/// The output, and what else the overload yields: log of the sum of exponentials, weights.
struct Outcome {
  Tensor output, weights;
  SoftmaxParts parts;
};

Outcome attend(Lowering &ctx, const Attention &a) {
  Tensor masked = scores(ctx, a);
  SoftmaxParts parts = softmaxParts(ctx, masked, {masked.rank() - 1});
  // Only a mask can hide everything from a query, which then gets zeros.
  Tensor weights = softmaxOf(ctx, parts, masked.dtype, a.mask.has_value());
  Tensor output = castTo(ctx, weigh(ctx, a, weights), ctx.resultDType());
  return {a.isGrouped ? mergeHeads(ctx, output) : output, weights, parts};
}

LogicalResult lowerAttention(Lowering &ctx) {
  Attention a = argumentsOf(ctx, "attn_mask");
  if (ctx.hasRefused())
    return failure();
  return ctx.done(attend(ctx, a).output);
}

LogicalResult lowerMathAttention(Lowering &ctx) {
  if (ctx.has("dropout_mask"))
    return ctx.refuse("a dropout_mask is not supported");
  Attention a = argumentsOf(ctx, "attn_mask");
  if (ctx.hasRefused())
    return failure();
  if (a.mask) // this overload adds a mask of bools too
    a.mask = castTo(ctx, *a.mask, opmath(a.query.dtype));
  Outcome outcome = attend(ctx, a);
  Tensor weights = castTo(ctx, outcome.weights, ctx.resultDType(1));
  return ctx.done({outcome.output, a.isGrouped ? mergeHeads(ctx, weights) : weights});
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
Operand logSumExp(Lowering &ctx, const Attention &a, const Outcome &outcome) {
  Tensor kept = pointwise(ctx, {outcome.parts.sum, outcome.parts.maximum}, ctx.resultDType(1),
                          [](Element &e, ValueRange x) { return e.add(e.log(x[0]), x[1]); });
  if (a.isGrouped)
    kept = mergeHeads(ctx, kept);
  int64_t last = kept.rank() - 2;
  Tensor result = squeeze(ctx, kept, last + 1);
  if (!ctx.name().ends_with("_efficient_attention"))
    return result;
  IndexMath m{ctx.b, ctx.loc};
  OpFoldResult rows = ctx.sizeOf(result, last), block = m.constant(32);
  SmallVector<OpFoldResult> low(last + 1, m.constant(0)), high = low;
  high.back() = m.sub(m.mul(m.ceilDiv(rows, block), block), rows);
  return pad(ctx, result, low, high, Scalar::ofInt(ctx.b.getContext(), 0));
}

/// The overloads that yield (output, logsumexp, and what a device's backward pass reads).
LogicalResult lowerFusedAttention(Lowering &ctx) {
  Attention a = argumentsOf(ctx, ctx.has("attn_bias") ? "attn_bias" : "attn_mask");
  if (ctx.hasRefused())
    return failure();
  Outcome outcome = attend(ctx, a);
  SmallVector<Operand> results = {outcome.output};
  if (ctx.flag("compute_log_sumexp", true))
    results.push_back(logSumExp(ctx, a, outcome));
  for (unsigned i = results.size(); i < ctx.op->getNumResults(); ++i)
    results.push_back(unusedResult(ctx, i, a));
  return ctx.done(results);
}

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
  Tensor masked = scores(ctx, a);
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
  Attention a = argumentsOf(ctx, ctx.has("attn_bias") ? "attn_bias" : "attn_mask");
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
  SmallVector<Operand> results = {a.isGrouped ? mergeHeads(ctx, dQuery) : dQuery, dKey,
                                  castTo(ctx, dValue, a.value.dtype)};
  if (ctx.op->getNumResults() == 4)
    results.push_back(Operand());
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
      {"torch.aten._scaled_dot_product_flash_attention_for_cpu_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_flash_attention_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_efficient_attention_backward", lowerAttentionBackward},
  };
  return {"Attention", rows};
}

} // namespace tw::lower
