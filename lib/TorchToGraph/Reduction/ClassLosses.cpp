// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses over classes: negative log likelihood, cross entropy and margins, whose targets name a
// class (a read at a checked position) or give every class a probability.
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Reduction/Loss.h"
#include "TorchToGraph/Builders/Reduction/Softmax.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// The inputs [N, C, places...] (or [C]) of a loss whose targets [N, places...] are classes.
struct Classes {
  Tensor input, target;
  std::optional<Tensor> weight; // [C]
  Value ignored;                // index value, the target that does not count; null for none
  int64_t dim;                  // that of the classes

  /// Dimension i of the target as one of the input.
  int64_t inputDim(int64_t i) const { return i + (i >= dim); }
};

/// Refuses what does not fit together.
std::optional<Classes> classesOf(Lowering &ctx) {
  Tensor input = ctx.tensor("self"), target = ctx.tensor("target");
  if (ctx.hasRefused())
    return std::nullopt;
  if (input.rank() == 0 || !isInteger(target.dtype)) {
    ctx.refuse("the input needs a dimension of classes, and the targets must be integers");
    return std::nullopt;
  }
  if (!ctx.needsRank(target, input.rank() - 1, "the target"))
    return std::nullopt;
  Classes classes{input, target, ctx.optTensor("weight"), {}, input.rank() == 1 ? 0 : 1};
  if (input.size(classes.dim) == 0) {
    ctx.refuse("the input has no classes");
    return std::nullopt;
  }
  for (int64_t i = 0; i < target.rank(); ++i)
    ctx.requireEqual(ctx.sizeOf(target, i), ctx.sizeOf(input, classes.inputDim(i)));
  if (ctx.has("ignore_index"))
    classes.ignored = ctx.scalar("ignore_index").materialize(ctx.b, ctx.loc);
  return classes;
}

/// Whether a target (an index value) counts.
Value counts(OpBuilder &b, Location loc, const Classes &c, Value target) {
  if (!c.ignored)
    return arith::ConstantIntOp::create(b, loc, 1, 1);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, target, c.ignored);
}

Value asIndex(GatherBody &body, DType dtype, Value x) {
  Value wide = Element(body.b, body.loc, DType::I64).cast(x, dtype);
  return arith::IndexCastOp::create(body.b, body.loc, body.b.getIndexType(), wide);
}

/// For each target that counts, read(its class, checked); otherwise 0. In the dtype of `from`.
Tensor readClasses(Lowering &ctx, const Classes &c, const Tensor &from,
                   llvm::function_ref<SmallVector<Value>(GatherBody &, Value)> coordinates) {
  IndexMath m{ctx.b, ctx.loc};
  Value bound = m.value(ctx.sizeOf(c.input, c.dim));
  return gather(ctx, ctx.sizesOf(c.target), from.dtype, c.target,
                [&](GatherBody &body, ValueRange x) {
                  Element e(body.b, body.loc, from.dtype);
                  Value target = asIndex(body, c.target.dtype, x[0]);
                  Value isCounted = counts(body.b, body.loc, c, target);
                  Value some = e.select(isCounted, target, body.constant(0));
                  Value index = body.safeIndex(some, DType::I64, bound, c.dim, false);
                  Value value = body.read(from, coordinates(body, index));
                  return e.select(isCounted, value, e.constant(0));
                });
}

/// from[n, target, places...], where `from` has the input's shape.
Tensor pick(Lowering &ctx, const Classes &c, const Tensor &from) {
  return readClasses(ctx, c, from, [&](GatherBody &body, Value index) {
    SmallVector<Value> at;
    for (int64_t i = 0; i < c.target.rank(); ++i)
      at.push_back(body.position(i));
    at.insert(at.begin() + c.dim, index);
    return at;
  });
}

/// The weight of each target in `dtype`: 0 where it does not count.
Tensor targetWeights(Lowering &ctx, const Classes &c, DType dtype) {
  if (c.weight)
    return castTo(ctx,
                  readClasses(ctx, c, *c.weight,
                              [](GatherBody &, Value index) { return SmallVector<Value>{index}; }),
                  dtype);
  return pointwiseMany(ctx, c.target, dtype,
                       [&](OpBuilder &b, Location loc, ValueRange x) {
                         GatherBody body{b, loc, ctx.shownName(), b.getBlock()};
                         Value one = counts(b, loc, c, asIndex(body, c.target.dtype, x[0]));
                         return SmallVector<Value>{Element(b, loc, dtype).cast(one, DType::Bool)};
                       })
      .front();
}

Tensor sumOfAll(Lowering &ctx, const Tensor &x) {
  return reduceSum(ctx, {x, allDims(x), false}, x.dtype);
}

Tensor quotient(Lowering &ctx, const Tensor &x, const Tensor &y, DType dtype) {
  return pointwise(
      ctx, {x, y}, dtype, [](Element &e, ValueRange v) { return e.div(v[0], v[1]); }, x.dtype);
}

/// Losses (weighted, 0 for those that do not count) as "reduction" says: a mean is relative to the
/// sum of the weights. `total` becomes that sum where it is needed.
Tensor reduceWeighted(Lowering &ctx, const Tensor &losses, const Tensor &weights,
                      std::optional<Tensor> &total) {
  DType result = ctx.resultDType();
  Reduction reduction = reductionOf(ctx);
  if (reduction == Reduction::None)
    return castTo(ctx, losses, result);
  total = sumOfAll(ctx, weights);
  Tensor sum = sumOfAll(ctx, losses);
  return reduction == Reduction::Sum ? castTo(ctx, sum, result)
                                     : quotient(ctx, sum, *total, result);
}

/// nll_loss and its relatives; _forward ones also yield the sum of the weights.
LogicalResult lowerNll(Lowering &ctx) {
  auto classes = classesOf(ctx);
  if (!classes)
    return failure();
  DType dtype = opmath(ctx.resultDType());
  Tensor weights = targetWeights(ctx, *classes, dtype);
  // Not negated, which would make -0 of what does not count.
  Tensor losses =
      pointwise(ctx, {pick(ctx, *classes, classes->input), weights}, dtype,
                [](Element &e, ValueRange x) { return e.sub(e.constant(0), e.mul(x[0], x[1])); });
  std::optional<Tensor> total;
  SmallVector<Operand> results = {reduceWeighted(ctx, losses, weights, total)};
  if (ctx.op->getNumResults() == 2)
    results.push_back(
        total ? castTo(ctx, *total, ctx.resultDType(1))
              : ctx.filled({}, ctx.resultDType(1), Scalar::ofInt(ctx.b.getContext(), 0)));
  return ctx.done(results);
}

/// -grad * weight at the target's class, 0 at the others; a mean divides by total_weight.
LogicalResult lowerNllBackward(Lowering &ctx) {
  auto classes = classesOf(ctx);
  Tensor grad = ctx.tensor("grad_output"), total = ctx.tensor("total_weight");
  if (!classes || ctx.hasRefused())
    return failure();
  const Classes &c = *classes;
  DType dtype = opmath(ctx.resultDType());
  if (reductionOf(ctx) == Reduction::Mean)
    grad = quotient(ctx, castTo(ctx, grad, dtype), total, dtype);
  grad = castTo(ctx, grad, dtype);
  if (grad.rank() > 0)
    grad = unsqueeze(ctx, grad, c.dim);
  SmallVector<Tensor> inputs = {unsqueeze(ctx, c.target, c.dim), grad};
  if (c.weight) {
    Tensor weight = castTo(ctx, *c.weight, dtype);
    while (weight.rank() < c.input.rank() - c.dim)
      weight = unsqueeze(ctx, weight, weight.rank());
    inputs.push_back(weight);
  }
  Tensor result = gather(
      ctx, ctx.sizesOf(c.input), ctx.resultDType(), inputs, [&](GatherBody &body, ValueRange x) {
        Element e(body.b, body.loc, dtype);
        Value target = asIndex(body, c.target.dtype, x[0]);
        Value isTarget = arith::CmpIOp::create(body.b, body.loc, arith::CmpIPredicate::eq, target,
                                               body.position(c.dim));
        Value hit = e.conjunction(isTarget, counts(body.b, body.loc, c, target));
        Value slope = e.neg(c.weight ? e.mul(x[1], x[2]) : x[1]);
        return e.as(ctx.resultDType()).cast(e.select(hit, slope, e.constant(0)), dtype);
      });
  return ctx.done(result);
}

// -- Cross entropy.

/// A class weight [C] so that it broadcasts along the input's classes.
Tensor alongClasses(Lowering &ctx, Tensor weight, const Tensor &input, int64_t dim) {
  while (weight.rank() < input.rank() - dim)
    weight = unsqueeze(ctx, weight, weight.rank());
  return weight;
}

/// Sum over the classes of -log p * factor, where the factors (tensors) broadcast.
Tensor classSum(Lowering &ctx, const Tensor &logs, int64_t dim, ArrayRef<Tensor> factors,
                llvm::function_ref<Value(Element &, ValueRange)> factor) {
  return reduce(
      ctx, {logs, {dim}, false}, opmath(logs.dtype), [](Element &e) { return e.constant(0); },
      [&](Element &e, ValueRange x) {
        return e.sub(x[0], e.mul(x[1], factor(e, x.drop_front(2))));
      },
      factors);
}

/// Targets are probabilities of classes, smoothed towards 1 / C; a mean is one over the samples.
LogicalResult crossEntropyOfProbabilities(Lowering &ctx, const Tensor &input,
                                          const Tensor &target) {
  int64_t dim = input.rank() == 1 ? 0 : 1;
  double smoothing = ctx.number("label_smoothing");
  DType dtype = opmath(input.dtype);
  Scalar classes{Scalar::Kind::Int, ctx.sizeOf(input, dim)};
  Tensor factors = target;
  if (smoothing > 0)
    factors = pointwise(ctx, {target, classes}, dtype, [&](Element &e, ValueRange x) {
      Value share = e.div(e.constant(smoothing), x[1]);
      return e.add(e.mul(x[0], e.constant(1 - smoothing)), share);
    });
  SmallVector<Tensor> inputs = {factors};
  if (auto weight = ctx.optTensor("weight"))
    inputs.push_back(alongClasses(ctx, *weight, input, dim));
  Tensor logs = logSoftmax(ctx, input, dim, dtype);
  Tensor losses = classSum(ctx, logs, dim, inputs, [](Element &e, ValueRange x) {
    return x.size() > 1 ? e.mul(x[0], x[1]) : x[0];
  });
  return ctx.done(reduceLoss(ctx, losses));
}

/// What label smoothing adds: the mean over all classes of -log p, weighted, for targets that
/// count.
Tensor smoothLosses(Lowering &ctx, const Classes &c, const Tensor &logs) {
  SmallVector<Tensor> factors;
  if (c.weight)
    factors.push_back(alongClasses(ctx, *c.weight, logs, c.dim));
  Tensor sums = classSum(ctx, logs, c.dim, factors,
                         [](Element &e, ValueRange x) { return x.empty() ? e.constant(1) : x[0]; });
  Classes unweighted = c;
  unweighted.weight = std::nullopt;
  Scalar classes{Scalar::Kind::Int, ctx.sizeOf(c.input, c.dim)};
  return pointwise(ctx, {sums, targetWeights(ctx, unweighted, sums.dtype), classes}, sums.dtype,
                   [](Element &e, ValueRange x) {
                     Value counts = e.isNonZero(x[1]);
                     return e.select(counts, e.div(x[0], x[2]), e.constant(0));
                   });
}

LogicalResult lowerCrossEntropy(Lowering &ctx) {
  Tensor input = ctx.tensor("self"), target = ctx.tensor("target");
  if (ctx.hasRefused())
    return failure();
  if (isFloat(target.dtype) && target.rank() == input.rank() && input.rank() > 0)
    return crossEntropyOfProbabilities(ctx, input, target);
  auto classes = classesOf(ctx);
  if (!classes)
    return failure();
  double smoothing = ctx.number("label_smoothing");
  DType dtype = opmath(ctx.resultDType());
  Tensor logs = logSoftmax(ctx, input, classes->dim, dtype);
  Tensor weights = targetWeights(ctx, *classes, dtype);
  SmallVector<Operand> inputs = {pick(ctx, *classes, logs), weights};
  if (smoothing > 0)
    inputs.push_back(smoothLosses(ctx, *classes, logs));
  Tensor losses = pointwise(ctx, inputs, dtype, [&](Element &e, ValueRange x) {
    Value loss = e.neg(e.mul(x[0], x[1]));
    if (x.size() == 2)
      return loss;
    return e.add(e.mul(loss, e.constant(1 - smoothing)), e.mul(x[2], e.constant(smoothing)));
  });
  std::optional<Tensor> total;
  return ctx.done(reduceWeighted(ctx, losses, weights, total));
}

// -- Margins.

/// Mean over the classes j other than the target's y of weight[y] max(0, margin - x[y] + x[j])^p.
LogicalResult lowerMultiMargin(Lowering &ctx) {
  auto classes = classesOf(ctx);
  double margin = ctx.number("margin", 1), p = ctx.number("p", 1);
  if (!classes)
    return failure();
  if (classes->input.rank() > 2 || (p != 1 && p != 2))
    return ctx.refuse("the input needs 1 or 2 dimensions, and p must be 1 or 2");
  const Classes &c = *classes;
  DType dtype = opmath(c.input.dtype);
  Tensor own = unsqueeze(ctx, pick(ctx, c, c.input), c.dim);
  Tensor target = unsqueeze(ctx, c.target, c.dim);
  Value start = Element(ctx.b, ctx.loc, dtype).constant(0);
  Tensor sum =
      reduceMany(ctx, {c.input, {c.dim}, false}, {own, target}, dtype, start,
                 [&](ReduceBody &body, ValueRange x, ValueRange sums) {
                   Element e(body.b, body.loc, dtype);
                   GatherBody place{body.b, body.loc, ctx.shownName(), body.b.getBlock()};
                   Value other = arith::CmpIOp::create(body.b, body.loc, arith::CmpIPredicate::ne,
                                                       asIndex(place, target.dtype, x[2]),
                                                       body.position(c.dim));
                   Value gap = e.sub(e.cast(x[0], c.input.dtype), e.cast(x[1], c.input.dtype));
                   gap = e.max(e.add(gap, e.constant(margin)), e.constant(0));
                   Value term = p == 2 ? e.mul(gap, gap) : gap;
                   return SmallVector<Value>{e.add(sums[0], e.select(other, term, e.constant(0)))};
                 })
          .front();
  Scalar count{Scalar::Kind::Int, ctx.sizeOf(c.input, c.dim)};
  Tensor losses =
      pointwise(ctx, {sum, targetWeights(ctx, c, dtype), count}, dtype,
                [](Element &e, ValueRange x) { return e.div(e.mul(x[0], x[1]), x[2]); });
  return ctx.done(reduceLoss(ctx, losses));
}

} // namespace

Family classLossesFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.cross_entropy_loss", lowerCrossEntropy},
      {"torch.aten.nll_loss", lowerNll},
      {"torch.aten.nll_loss_nd", lowerNll},
      {"torch.aten.nll_loss2d", lowerNll},
      {"torch.aten.nll_loss_forward", lowerNll},
      {"torch.aten.nll_loss2d_forward", lowerNll},
      {"torch.aten.nll_loss_backward", lowerNllBackward},
      {"torch.aten.nll_loss2d_backward", lowerNllBackward},
      {"torch.aten.multi_margin_loss", lowerMultiMargin},
  };
  return {"Losses over classes", rows};
}

} // namespace tw::lower
