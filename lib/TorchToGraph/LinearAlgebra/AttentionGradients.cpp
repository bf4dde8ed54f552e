// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of scaled dot-product attention: one tw.attention_gradient. The gradient of a mask, as
// large as the scores, is spelt out.
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Attention.h"
#include "TorchToGraph/Builders/Elementwise/Scalars.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// What the backward pass has beside the operands of attention, with grouped heads: the gradient of
/// the output [batch..., L, F], the log of sums and delta [batch..., L].
struct Backward {
  Tensor gradient, logSumExp, delta;
};

/// A tensor that has the query's heads in dimension -3, grouped as the query is.
Tensor grouped(Lowering &ctx, const Attention &a, const Tensor &x) {
  return a.isGrouped ? splitHeads(ctx, x, ctx.sizeOf(a.key, a.key.rank() - 3)) : x;
}

/// One number for each query, without what fills up blocks of them.
Tensor givenLogSumExp(Lowering &ctx, const Attention &a, const Tensor &lse) {
  OpFoldResult rows = ctx.sizeOf(a.query, a.query.rank() - 2);
  Tensor row = slice(ctx, lse, lse.rank() - 1, ctx.b.getIndexAttr(0), rows);
  if (a.isGrouped) {
    Tensor column = grouped(ctx, a, unsqueeze(ctx, row, row.rank()));
    row = dropUnitDims(ctx, column, {column.rank() - 1});
  }
  return castTo(ctx, row, contractDType(a.query.dtype));
}

/// The sum of dO * O along the width.
Tensor deltaOf(Lowering &ctx, const Attention &a, const Tensor &gradient, const Tensor &out) {
  return reduce(
      ctx, {gradient, {gradient.rank() - 1}}, contractDType(a.query.dtype),
      [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], e.mul(x[1], x[2])); }, out);
}

Backward backwardArguments(Lowering &ctx, const Attention &a) {
  Tensor gradient = ctx.tensor(ctx.has("grad_out") ? "grad_out" : "grad_out_");
  Tensor out = ctx.tensor("out"), lse = ctx.tensor("logsumexp");
  Backward backward{gradient, lse, lse};
  int64_t rank = a.query.rank() - (a.isGrouped ? 1 : 0);
  if (ctx.hasRefused() || !ctx.needsRank(gradient, rank, "the gradient of the output") ||
      !ctx.needsRank(out, rank, "the output") || !ctx.needsRank(lse, rank - 1, "logsumexp"))
    return backward;
  backward.logSumExp = givenLogSumExp(ctx, a, lse);
  backward.gradient = castTo(ctx, grouped(ctx, a, gradient), a.query.dtype);
  backward.delta = deltaOf(ctx, a, backward.gradient, grouped(ctx, a, out));
  return backward;
}

//===----------------------------------------------------------------------===//
// Gradients of query, key and value
//===----------------------------------------------------------------------===//

/// The labels of an operand that is not repeated along them.
std::string ownLabels(const LabelledLoops &loops, const Labelled &operand) {
  std::string own;
  for (auto [axis, label] : llvm::enumerate(operand.labels))
    if (operand.tensor.size(axis) != 1 || constantOf(loops.sizes(StringRef(&label, 1))[0]) == 1)
      own += label;
  return own;
}

/// Those of `x` and of `y` but for their matrices, in the order of `all`.
std::string batchOf(StringRef x, StringRef y, StringRef all) {
  std::string labels;
  for (char label : all)
    if (llvm::isUpper(label) && (x.contains(label) || y.contains(label)))
      labels += label;
  return labels;
}

/// As the operand that it is the gradient of: summed along what that lacks.
Tensor asOperand(Lowering &ctx, Tensor gradient, StringRef labels, const Labelled &operand,
                 StringRef own) {
  SmallVector<int64_t> summed;
  for (auto [axis, label] : llvm::enumerate(labels))
    if (!own.contains(label))
      summed.push_back(int64_t(axis));
  if (!summed.empty())
    gradient = castTo(ctx, reduceSum(ctx, {gradient, summed}, contractDType(gradient.dtype)),
                      gradient.dtype);
  return gradient.rank() == operand.tensor.rank()
             ? gradient
             : reshape(ctx, gradient, ctx.sizesOf(operand.tensor));
}

SmallVector<Tensor> gradients(Lowering &ctx, const Attention &a, const Backward &backward) {
  SmallVector<Labelled> inputs = attentionOperands(a), operands = inputs;
  std::string batch = a.scoreLabels("");
  operands.append({{backward.gradient, batch + "lf"},
                   {backward.logSumExp, batch + "l"},
                   {backward.delta, batch + "l"}});
  LabelledLoops loops(ctx, operands, batch + "lsef");
  SmallVector<std::string> own, labels;
  for (const Labelled &input : ArrayRef(inputs).take_front(3))
    own.push_back(ownLabels(loops, input));
  std::string keys = batchOf(own[1], own[2], batch);
  labels = {own[0], keys + "se", keys + "sf"};
  SmallVector<Value> values, outs;
  SmallVector<AffineMap> maps;
  for (const Labelled &operand : operands)
    values.push_back(operand.tensor.value), maps.push_back(loops.mapOf(operand));
  SmallVector<Tensor> results;
  for (const std::string &of : labels) {
    results.push_back(ctx.empty(loops.sizes(of), a.query.dtype));
    outs.push_back(results.back().value);
    maps.push_back(loops.mapOf({results.back(), of}));
  }
  if (ctx.hasRefused())
    return results;
  unsigned next = a.mask ? 4 : 3;
  auto op = graph::AttentionGradientOp::create(
      ctx.b, ctx.loc, TypeRange(ValueRange(outs)), values[0], values[1], values[2],
      a.mask ? values[3] : Value(), values[next], values[next + 1], values[next + 2],
      toFloat(ctx, a.scale).materialize(ctx.b, ctx.loc), outs, ctx.b.getAffineMapArrayAttr(maps),
      graph::AttentionInput::Query | graph::AttentionInput::Key | graph::AttentionInput::Value,
      a.isCausal);
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].value = op.getResult(i);
    results[i] = asOperand(ctx, results[i], labels[i], inputs[i], own[i]);
  }
  if (a.isGrouped)
    results[0] = mergeHeads(ctx, results[0], results[0].rank() - 4);
  return results;
}

//===----------------------------------------------------------------------===//
// The gradient of the mask
//===----------------------------------------------------------------------===//

/// P * (dO V' - delta), P = exp(scores - log of sums), summed along what the mask lacks.
Tensor maskGradient(Lowering &ctx, const Attention &a, const Backward &backward,
                    const Tensor &mask) {
  Tensor scores = attentionScores(ctx, a);
  Tensor dWeights =
      contract(ctx, {backward.gradient, a.scoreLabels("lf")}, {a.value, a.keyLabels(a.value, "sf")},
               a.scoreLabels("ls"), scores.dtype);
  Tensor lse = unsqueeze(ctx, backward.logSumExp, backward.logSumExp.rank()),
         delta = unsqueeze(ctx, backward.delta, backward.delta.rank());
  Tensor gradient =
      pointwise(ctx, {scores, lse, dWeights, delta}, scores.dtype, [](Element &e, ValueRange x) {
        Value isHidden = e.eq(x[0], e.constant(-INFINITY));
        Value weight = e.exp(e.sub(x[0], x[1]));
        return e.mul(e.select(isHidden, e.constant(0), weight), e.sub(x[2], x[3]));
      });
  SmallVector<int64_t> summed;
  for (int64_t axis = 0, missing = gradient.rank() - a.mask->rank(); axis < gradient.rank(); ++axis)
    if (axis < missing || (a.mask->size(axis - missing) == 1 && gradient.size(axis) != 1))
      summed.push_back(axis);
  if (!summed.empty())
    gradient = reduceSum(ctx, {gradient, summed}, gradient.dtype);
  return castTo(ctx, reshape(ctx, gradient, ctx.sizesOf(mask)), mask.dtype);
}

LogicalResult lowerAttentionBackward(Lowering &ctx) {
  const char *maskName = ctx.has("attn_bias") ? "attn_bias" : "attn_mask";
  Attention a = attentionArguments(ctx, maskName);
  SmallVector<int64_t> wanted = ctx.integers("grad_input_mask");
  if (ctx.hasRefused())
    return failure();
  Backward backward = backwardArguments(ctx, a);
  if (ctx.hasRefused())
    return failure();
  SmallVector<Operand> results;
  llvm::append_range(results, gradients(ctx, a, backward));
  if (ctx.op->getNumResults() == 4)
    results.push_back(wanted.size() == 4 && wanted[3] && a.mask
                          ? Operand(maskGradient(ctx, a, backward, ctx.tensor(maskName)))
                          : Operand());
  return ctx.done(results);
}

} // namespace

Family attentionGradientsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten._scaled_dot_product_flash_attention_for_cpu_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_flash_attention_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_efficient_attention_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_cudnn_attention_backward", lowerAttentionBackward},
      {"torch.aten._scaled_dot_product_fused_attention_overrideable_backward",
       lowerAttentionBackward},
  };
  return {"AttentionGradients", rows};
}

} // namespace tw::lower
