// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses that compare elements or vectors: one elementwise op in opmath, then the reduction that
// the argument "reduction" asks for; and their gradients.
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Reduction/Loss.h"
#include "TorchToGraph/Builders/Reduction/Norm.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// f(self, target, further arguments) for each element, reduced. A further argument that is None
/// reads as 1.
LogicalResult elementLoss(Lowering &ctx, ElementFn f, ArrayRef<StringRef> further = {}) {
  bool hasInput = ctx.has("input");
  SmallVector<Operand> inputs = {ctx.arg(hasInput ? "input" : "self"), ctx.arg("target")};
  for (StringRef name : further)
    inputs.push_back(ctx.has(name) ? ctx.arg(name)
                                   : Operand(Scalar::ofFloat(ctx.b.getContext(), 1)));
  if (ctx.hasRefused())
    return failure();
  return ctx.done(reduceLoss(ctx, pointwise(ctx, inputs, opmath(ctx.resultDType()), f)));
}

Value square(Element &e, Value x) { return e.mul(x, x); }
Value positivePart(Element &e, Value x) { return e.max(x, e.constant(0)); }

LogicalResult lowerMse(Lowering &ctx) {
  return elementLoss(ctx, [](Element &e, ValueRange x) { return square(e, e.sub(x[0], x[1])); });
}

LogicalResult lowerL1(Lowering &ctx) {
  return elementLoss(ctx, [](Element &e, ValueRange x) { return e.abs(e.sub(x[0], x[1])); });
}

/// A parabola up to `bound`, then a line: d^2 / 2 and bound (d - bound / 2), both divided by scale.
LogicalResult parabolaLoss(Lowering &ctx, double bound, double scale) {
  return elementLoss(ctx, [&](Element &e, ValueRange x) {
    Value d = e.abs(e.sub(x[0], x[1]));
    Value parabola = e.mul(e.mul(e.constant(0.5), square(e, d)), e.constant(1 / scale));
    Value line = e.mul(e.sub(d, e.constant(0.5 * bound)), e.constant(bound / scale));
    return e.select(e.lt(d, e.constant(bound)), parabola, line);
  });
}

LogicalResult lowerSmoothL1(Lowering &ctx) {
  double beta = ctx.number("beta", 1);
  return beta == 0 ? lowerL1(ctx) : parabolaLoss(ctx, beta, beta);
}

LogicalResult lowerHuber(Lowering &ctx) { return parabolaLoss(ctx, ctx.number("delta", 1), 1); }

/// Logarithms are kept above -100.
LogicalResult lowerBinaryCrossEntropy(Lowering &ctx) {
  return elementLoss(ctx,
                     [](Element &e, ValueRange x) {
                       Value least = e.constant(-100);
                       Value whenZero =
                           e.mul(e.sub(x[1], e.constant(1)), e.max(e.log1p(e.neg(x[0])), least));
                       return e.mul(e.sub(whenZero, e.mul(x[1], e.max(e.log(x[0]), least))), x[2]);
                     },
                     {"weight"});
}

/// (1 - t) x + (1 + (pos_weight - 1) t) log(1 + exp(-x)), the logarithm in its stable form.
LogicalResult lowerBinaryCrossEntropyLogits(Lowering &ctx) {
  return elementLoss(
      ctx,
      [](Element &e, ValueRange x) {
        Value one = e.constant(1);
        Value factor = e.add(e.mul(e.sub(x[3], one), x[1]), one);
        Value soft = e.add(e.log1p(e.exp(e.neg(e.abs(x[0])))), positivePart(e, e.neg(x[0])));
        return e.mul(e.add(e.mul(e.sub(one, x[1]), x[0]), e.mul(factor, soft)), x[2]);
      },
      {"weight", "pos_weight"});
}

/// t (log t - x); with log_target exp(t) (t - x).
LogicalResult lowerKlDiv(Lowering &ctx) {
  bool isLog = ctx.flag("log_target");
  return elementLoss(ctx, [&](Element &e, ValueRange x) {
    if (isLog)
      return e.mul(e.exp(x[1]), e.sub(x[1], x[0]));
    Value entropy = e.select(e.eq(x[1], e.constant(0)), e.constant(0), e.mul(x[1], e.log(x[1])));
    return e.sub(entropy, e.mul(x[1], x[0]));
  });
}

/// With `full`, Stirling's approximation of log(t!) is added where t > 1.
LogicalResult lowerPoisson(Lowering &ctx) {
  bool isLog = ctx.flag("log_input"), full = ctx.flag("full");
  double eps = ctx.number("eps");
  return elementLoss(ctx, [&](Element &e, ValueRange x) {
    Value t = x[1];
    Value loss = isLog ? e.sub(e.exp(x[0]), e.mul(t, x[0]))
                       : e.sub(x[0], e.mul(t, e.log(e.add(x[0], e.constant(eps)))));
    if (!full)
      return loss;
    Value half = e.mul(e.constant(0.5), e.log(e.mul(e.constant(2 * M_PI), t)));
    Value stirling = e.add(e.sub(e.mul(t, e.log(t)), t), half);
    return e.add(loss, e.select(e.le(t, e.constant(1)), e.constant(0), stirling));
  });
}

LogicalResult lowerSoftMargin(Lowering &ctx) {
  return elementLoss(
      ctx, [](Element &e, ValueRange x) { return e.log1p(e.exp(e.neg(e.mul(x[1], x[0])))); });
}

/// x where t = 1 and max(0, margin - x) where t = -1; for other targets both.
LogicalResult lowerHingeEmbedding(Lowering &ctx) {
  double margin = ctx.number("margin", 1);
  return elementLoss(ctx, [&](Element &e, ValueRange x) {
    Value zero = e.constant(0), gap = positivePart(e, e.sub(e.constant(margin), x[0]));
    return e.add(e.select(e.eq(x[1], e.constant(1)), zero, gap),
                 e.select(e.eq(x[1], e.constant(-1)), zero, x[0]));
  });
}

LogicalResult lowerMarginRanking(Lowering &ctx) {
  double margin = ctx.number("margin");
  Tensor losses = pointwise(ctx, {ctx.arg("input1"), ctx.arg("input2"), ctx.arg("target")},
                            opmath(ctx.resultDType()), [&](Element &e, ValueRange x) {
                              Value difference = e.mul(e.neg(x[2]), e.sub(x[0], x[1]));
                              return positivePart(e, e.add(difference, e.constant(margin)));
                            });
  return ctx.done(reduceLoss(ctx, losses));
}

// -- Losses of vectors.

/// 1 - cos where t = 1, max(0, cos - margin) where t = -1; the vectors lie in the last dimension.
LogicalResult lowerCosineEmbedding(Lowering &ctx) {
  Tensor a = ctx.tensor("input1"), b = ctx.tensor("input2");
  auto sizes = broadcastSizes(ctx, {a, b});
  double margin = ctx.number("margin");
  if (sizes.empty())
    return ctx.refuse("its inputs need a dimension");
  a = broadcastTo(ctx, a, sizes);
  auto dotted = [&](const Tensor &x, const Tensor &y) {
    return reduce(
        ctx, {x, {x.rank() - 1}, false}, opmath(x.dtype), [](Element &e) { return e.constant(0); },
        [](Element &e, ValueRange v) { return e.add(v[0], e.mul(v[1], v[2])); }, y);
  };
  Tensor wide = broadcastTo(ctx, b, sizes);
  Tensor losses =
      pointwise(ctx, {dotted(a, b), dotted(a, a), dotted(wide, wide), ctx.arg("target")},
                opmath(ctx.resultDType()), [&](Element &e, ValueRange x) {
                  Value eps = e.constant(1e-12), zero = e.constant(0), one = e.constant(1);
                  Value cosine = e.div(x[0], e.sqrt(e.mul(e.add(x[1], eps), e.add(x[2], eps))));
                  Value apart = positivePart(e, e.sub(cosine, e.constant(margin)));
                  return e.add(e.select(e.eq(x[3], one), e.sub(one, cosine), zero),
                               e.select(e.eq(x[3], e.constant(-1)), apart, zero));
                });
  return ctx.done(reduceLoss(ctx, losses));
}

/// The p-norm of a - b + eps over the last dimension.
Tensor distance(Lowering &ctx, Tensor a, const Tensor &b, bool keepDim) {
  a = broadcastTo(ctx, a, broadcastSizes(ctx, {a, b}));
  return pNorm(ctx, {a, {a.rank() - 1}, keepDim}, ctx.number("p", 2), b, ctx.number("eps", 1e-6));
}

LogicalResult lowerPairwiseDistance(Lowering &ctx) {
  Tensor a = ctx.tensor("x1"), b = ctx.tensor("x2");
  if (std::max(a.rank(), b.rank()) == 0)
    return ctx.refuse("its inputs need a dimension");
  return ctx.done(castTo(ctx, distance(ctx, a, b, ctx.flag("keepdim")), ctx.resultDType()));
}

/// max(0, margin + |a - p| - |a - n|); with `swap`, |p - n| takes the place of |a - n| if smaller.
LogicalResult lowerTripletMargin(Lowering &ctx) {
  Tensor anchor = ctx.tensor("anchor"), positive = ctx.tensor("positive"),
         negative = ctx.tensor("negative");
  double margin = ctx.number("margin", 1);
  if (std::min({anchor.rank(), positive.rank(), negative.rank()}) == 0)
    return ctx.refuse("its inputs need a dimension");
  SmallVector<Operand> distances = {distance(ctx, anchor, positive, false),
                                    distance(ctx, anchor, negative, false)};
  if (ctx.flag("swap"))
    distances.push_back(distance(ctx, positive, negative, false));
  Tensor losses =
      pointwise(ctx, distances, opmath(ctx.resultDType()), [&](Element &e, ValueRange x) {
        Value far = x.size() > 2 ? e.min(x[1], x[2]) : x[1];
        return positivePart(e, e.sub(e.add(e.constant(margin), x[0]), far));
      });
  return ctx.done(reduceLoss(ctx, losses));
}

// -- Several labels a sample: the targets [..., C] are classes up to the first negative one.

/// Whether a target counts: neither it nor one before it is negative.
Tensor countedLabels(Lowering &ctx, const Tensor &target) {
  Value yes = Element(ctx.b, ctx.loc, DType::Bool).constant(1);
  return scan(ctx, target, target.rank() - 1, DType::Bool, yes,
              [&](OpBuilder &b, Location loc, ValueRange states, ValueRange x) {
                Element e(b, loc, target.dtype);
                Value isLabel = e.ge(x[0], e.constant(0));
                return SmallVector<Value>{e.conjunction(states[0], isLabel)};
              })
      .front();
}

/// Whether class i is among the labels: [..., C].
Tensor isLabel(Lowering &ctx, const Tensor &target, const Tensor &counted) {
  int64_t rank = target.rank();
  auto sizes = ctx.sizesOf(target);
  sizes.push_back(sizes.back());
  Tensor wide = broadcastTo(ctx, unsqueeze(ctx, target, rank - 1), sizes);
  Value no = Element(ctx.b, ctx.loc, DType::Bool).constant(0);
  return reduceMany(ctx, {wide, {rank}, false}, unsqueeze(ctx, counted, rank - 1), DType::Bool, no,
                    [&](ReduceBody &body, ValueRange x, ValueRange found) {
                      Element e(body.b, body.loc, DType::I64);
                      Value own = arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(),
                                                             body.position(rank - 1));
                      Value isEqual = e.eq(e.cast(x[0], target.dtype), own);
                      Value hit = e.conjunction(isEqual, x[1]);
                      return SmallVector<Value>{e.disjunction(found[0], hit)};
                    })
      .front();
}

/// input[..., target], 0 where the target does not count.
Tensor labelScores(Lowering &ctx, const Tensor &input, const Tensor &target,
                   const Tensor &counted) {
  int64_t last = input.rank() - 1;
  Value bound = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(input, last));
  return gather(ctx, ctx.sizesOf(input), input.dtype, {target, counted},
                [&](GatherBody &body, ValueRange x) {
                  Element e(body.b, body.loc, input.dtype), label = e.as(target.dtype);
                  Value some = label.select(x[1], x[0], label.constant(0));
                  SmallVector<Value> at;
                  for (int64_t i = 0; i < last; ++i)
                    at.push_back(body.position(i));
                  at.push_back(body.safeIndex(some, target.dtype, bound, last, false));
                  return e.select(x[1], body.read(input, at), e.constant(0));
                });
}

/// Mean over C of the sum over labels j and classes i that are none of max(0, 1 - x[j] + x[i]).
LogicalResult lowerMultilabelMargin(Lowering &ctx) {
  Tensor input = ctx.tensor("self"), target = ctx.tensor("target");
  int64_t rank = input.rank();
  if (rank < 1 || target.rank() != rank || !isInteger(target.dtype) || input.size(rank - 1) == 0)
    return ctx.refuse("the input needs classes, and the targets must be as many integers");
  Tensor counted = countedLabels(ctx, target), labels = isLabel(ctx, target, counted);
  Tensor scores = labelScores(ctx, input, target, counted);
  auto sizes = ctx.sizesOf(input);
  Scalar classes{Scalar::Kind::Int, sizes.back()};
  sizes.push_back(sizes.back());
  Tensor wide = broadcastTo(ctx, unsqueeze(ctx, input, rank), sizes);
  SmallVector<Tensor> others = {unsqueeze(ctx, scores, rank - 1), unsqueeze(ctx, counted, rank - 1),
                                unsqueeze(ctx, labels, rank)};
  Tensor sum = reduce(
      ctx, {wide, {rank - 1, rank}, false}, opmath(input.dtype),
      [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) {
        Value gap = positivePart(e, e.add(e.sub(e.constant(1), x[2]), x[1]));
        Value isPair = e.conjunction(e.isNonZero(x[3]), e.eq(x[4], e.constant(0)));
        return e.add(x[0], e.select(isPair, gap, e.constant(0)));
      },
      others);
  Tensor losses = pointwise(ctx, {sum, classes}, sum.dtype,
                            [](Element &e, ValueRange x) { return e.div(x[0], x[1]); });
  SmallVector<Operand> results = {reduceLoss(ctx, losses)};
  if (ctx.op->getNumResults() == 2)
    results.push_back(castTo(ctx, labels, ctx.resultDType(1)));
  return ctx.done(results);
}

// -- Gradients.

/// grad_output * scale * slope(self, target, further...), where the scale is 1 / count for a mean.
LogicalResult elementGradient(Lowering &ctx, ElementFn slope, ArrayRef<StringRef> further = {}) {
  Tensor self = ctx.tensor("self");
  SmallVector<Operand> inputs = {self, ctx.arg("target")};
  for (StringRef name : further)
    inputs.push_back(ctx.has(name) ? ctx.arg(name)
                                   : Operand(Scalar::ofFloat(ctx.b.getContext(), 1)));
  inputs.push_back(ctx.arg("grad_output"));
  inputs.push_back(gradientScale(ctx, self));
  return ctx.done(pointwise(ctx, inputs, ctx.resultDType(), [&](Element &e, ValueRange x) {
    Value scaled = e.mul(x[x.size() - 2], x[x.size() - 1]);
    return e.mul(scaled, slope(e, x));
  }));
}

LogicalResult lowerMseBackward(Lowering &ctx) {
  return elementGradient(
      ctx, [](Element &e, ValueRange x) { return e.mul(e.constant(2), e.sub(x[0], x[1])); });
}

/// The difference limited to [-bound, bound], divided by scale.
LogicalResult parabolaGradient(Lowering &ctx, double bound, double scale) {
  return elementGradient(ctx, [&](Element &e, ValueRange x) {
    Value d = e.sub(x[0], x[1]);
    Value inside = scale == 1 ? d : e.div(d, e.constant(scale));
    Value edge = e.constant(bound / scale);
    Value value = e.select(e.ge(d, e.constant(bound)), edge, inside);
    return e.select(e.le(d, e.constant(-bound)), e.neg(edge), value);
  });
}

LogicalResult lowerSmoothL1Backward(Lowering &ctx) {
  double beta = ctx.number("beta", 1);
  if (beta == 0) // the sign of the difference
    return elementGradient(ctx, [](Element &e, ValueRange x) {
      Value one = e.constant(1), d = e.sub(x[0], x[1]), zero = e.constant(0);
      return e.select(e.gt(d, zero), one, e.select(e.lt(d, zero), e.neg(one), d));
    });
  return parabolaGradient(ctx, beta, beta);
}

LogicalResult lowerHuberBackward(Lowering &ctx) {
  return parabolaGradient(ctx, ctx.number("delta", 1), 1);
}

LogicalResult lowerBinaryCrossEntropyBackward(Lowering &ctx) {
  return elementGradient(ctx,
                         [](Element &e, ValueRange x) {
                           Value spread = e.mul(e.sub(e.constant(1), x[0]), x[0]);
                           return e.mul(e.div(e.sub(x[0], x[1]), e.max(spread, e.constant(1e-12))),
                                        x[2]);
                         },
                         {"weight"});
}

LogicalResult lowerSoftMarginBackward(Lowering &ctx) {
  return elementGradient(ctx, [](Element &e, ValueRange x) {
    Value z = e.exp(e.neg(e.mul(x[1], x[0])));
    return e.neg(e.div(e.mul(x[1], z), e.add(z, e.constant(1))));
  });
}

} // namespace

Family lossesFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.mse_loss", lowerMse},
      {"torch.aten.l1_loss", lowerL1},
      {"torch.aten.smooth_l1_loss", lowerSmoothL1},
      {"torch.aten.huber_loss", lowerHuber},
      {"torch.aten.binary_cross_entropy", lowerBinaryCrossEntropy},
      {"torch.aten.binary_cross_entropy_with_logits", lowerBinaryCrossEntropyLogits},
      {"torch.aten.kl_div", lowerKlDiv},
      {"torch.aten.poisson_nll_loss", lowerPoisson},
      {"torch.aten.soft_margin_loss", lowerSoftMargin},
      {"torch.aten.hinge_embedding_loss", lowerHingeEmbedding},
      {"torch.aten.margin_ranking_loss", lowerMarginRanking},
      {"torch.aten.cosine_embedding_loss", lowerCosineEmbedding},
      {"torch.aten.pairwise_distance", lowerPairwiseDistance},
      {"torch.aten.triplet_margin_loss", lowerTripletMargin},
      {"torch.aten.multilabel_margin_loss", lowerMultilabelMargin},
      {"torch.aten.multilabel_margin_loss_forward", lowerMultilabelMargin},
      {"torch.aten.mse_loss_backward", lowerMseBackward},
      {"torch.aten.smooth_l1_loss_backward", lowerSmoothL1Backward},
      {"torch.aten.huber_loss_backward", lowerHuberBackward},
      {"torch.aten.binary_cross_entropy_backward", lowerBinaryCrossEntropyBackward},
      {"torch.aten.soft_margin_loss_backward", lowerSoftMarginBackward},
  };
  return {"Losses", rows};
}

} // namespace tw::lower
