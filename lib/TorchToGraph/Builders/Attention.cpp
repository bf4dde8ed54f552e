// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Attention.h"
#include "IR/Graph/Graph.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Elementwise/Scalars.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

Tensor splitHeads(Lowering &ctx, const Tensor &x, OpFoldResult heads) {
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(x);
  OpFoldResult &all = sizes[sizes.size() - 3];
  IndexMath m{ctx.b, ctx.loc};
  OpFoldResult group = m.floorDiv(all, m.max(heads, m.constant(1)));
  all = heads;
  sizes.insert(sizes.end() - 2, group);
  return reshape(ctx, x, sizes);
}

Tensor mergeHeads(Lowering &ctx, const Tensor &x, int64_t first) {
  return flatten(ctx, x, first, first + 1);
}

/// Whether consecutive heads of the query share one of the key. Only some operators have a flag for
/// that; with the others it follows from the numbers of heads, and where only calls give these, the
/// heads are grouped: groups of one head are as good, and so are all heads in one group.
static bool areHeadsShared(Lowering &ctx, OpFoldResult queries, OpFoldResult keys) {
  auto all = constantOf(queries), few = constantOf(keys);
  if (ctx.flag("enable_gqa"))
    return !knownEqual(queries, keys);
  if (all && few)
    return *all > *few && *few > 1;
  return !ctx.has("enable_gqa") && !knownEqual(queries, keys) && all != 1 && few != 1;
}

static void groupHeads(Lowering &ctx, Attention &a) {
  if (a.query.rank() < 3 || a.key.rank() < 3 || a.value.rank() < 3)
    return;
  auto heads = [&](const Tensor &x) { return ctx.sizeOf(x, x.rank() - 3); };
  OpFoldResult queries = heads(a.query), keys = heads(a.key);
  auto all = constantOf(queries), few = constantOf(keys);
  if (!areHeadsShared(ctx, queries, keys))
    return;
  ctx.requireEqual(keys, heads(a.value));
  if (all && few && (*few == 0 || *all % *few != 0)) {
    ctx.refuse("the " + Twine(*all) + " heads of the query are not a multiple of the key's " +
               Twine(*few));
    return;
  }
  IndexMath m{ctx.b, ctx.loc};
  if (!all || !few)
    requireSame(
        ctx, m.mul(m.floorDiv(queries, m.max(keys, m.constant(1))), keys), queries,
        "the heads of the query are not a multiple of the key's: %lld of %lld can be shared");
  a.isGrouped = true;
  a.query = splitHeads(ctx, a.query, keys);
  if (a.mask && a.mask->rank() >= 3)
    a.mask = a.mask->size(a.mask->rank() - 3) == 1 ? unsqueeze(ctx, *a.mask, a.mask->rank() - 2)
                                                   : splitHeads(ctx, *a.mask, keys);
}

/// 1 / sqrt(width of a head), computed by the program where the width is open.
static Scalar defaultScale(Lowering &ctx, OpFoldResult width) {
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

Attention attentionArguments(Lowering &ctx, StringRef maskName) {
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
    ctx.refuse("the mask has " + counted(a.mask->rank(), "dimension") +
               ", the other tensors have " + Twine(most));
  groupHeads(ctx, a);
  return a;
}

SmallVector<Labelled> attentionOperands(const Attention &a) {
  SmallVector<Labelled> operands = {{a.query, a.queryLabels("le")},
                                    {a.key, a.keyLabels(a.key, "se")},
                                    {a.value, a.keyLabels(a.value, "sf")}};
  if (a.mask) {
    std::string labels = a.scoreLabels("ls");
    operands.push_back({*a.mask, labels.substr(labels.size() - a.mask->rank())});
  }
  return operands;
}

Attended attend(Lowering &ctx, const Attention &a, bool wantsSums) {
  SmallVector<Labelled> operands = attentionOperands(a);
  std::string batch = a.scoreLabels("");
  LabelledLoops loops(ctx, operands, batch + "lsef");
  Tensor output = ctx.empty(loops.sizes(batch + "lf"), a.query.dtype);
  Tensor logSumExp = ctx.empty(loops.sizes(batch + "l"), contractDType(a.query.dtype));
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
  return {output, logSumExp};
}

/// Whether query l may see key s: s <= l.
static Value isVisible(OpBuilder &b, Location loc, int64_t rank) {
  Value l = linalg::IndexOp::create(b, loc, rank - 2),
        s = linalg::IndexOp::create(b, loc, rank - 1);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, s, l);
}

Tensor attentionScores(Lowering &ctx, const Attention &a) {
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

} // namespace tw::lower
