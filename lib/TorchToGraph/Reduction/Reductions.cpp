// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums, means, extremes, truth, variances and norms over dimensions.
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Reduction/Norm.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::lower {

/// What an overload reduces: "dim" ("dims" in prims) or everything, and "keepdim".
static ReduceSpace spaceOf(Lowering &ctx) {
  auto self = ctx.arg(0u).tensor();
  if (!self) {
    ctx.refuse("its first argument must be a tensor");
    return {ctx.empty({}, DType::F32), {}, false};
  }
  StringRef name = ctx.has("dim") ? "dim" : "dims";
  return {*self, ctx.dims(name, self->rank()), ctx.flag("keepdim")};
}

static LogicalResult finish(Lowering &ctx, const Tensor &value) {
  return ctx.done(castTo(ctx, value, ctx.resultDType()));
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static LogicalResult lowerSum(Lowering &ctx) {
  ReduceSpace space = spaceOf(ctx);
  return finish(ctx, reduceSum(ctx, space, accumulator(ctx.resultDType())));
}

static LogicalResult lowerMean(Lowering &ctx) {
  DType dtype = ctx.resultDType();
  ReduceSpace space = spaceOf(ctx);
  Tensor sum = reduceSum(ctx, space, accumulator(dtype));
  Scalar count{Scalar::Kind::Int, reducedCount(ctx, space)};
  return ctx.done(pointwise(ctx, {sum, count}, dtype,
                            [](Element &e, ValueRange x) { return e.div(x[0], x[1]); }));
}

static Value zeroForNan(Element &e, Value x) { return e.select(e.isNan(x), e.constant(0), x); }

static Tensor nanSum(Lowering &ctx, const ReduceSpace &space, DType accumulate) {
  return reduce(
      ctx, space, accumulate, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], zeroForNan(e, x[1])); });
}

static LogicalResult lowerNanSum(Lowering &ctx) {
  return finish(ctx, nanSum(ctx, spaceOf(ctx), accumulator(ctx.resultDType())));
}

static LogicalResult lowerNanMean(Lowering &ctx) {
  ReduceSpace space = spaceOf(ctx);
  DType dtype = ctx.resultDType();
  Tensor sum = nanSum(ctx, space, accumulator(dtype));
  Tensor count = reduce(
      ctx, space, accumulator(dtype), [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) {
        return e.add(x[0], e.select(e.isNan(x[1]), e.constant(0), e.constant(1)));
      });
  return ctx.done(pointwise(ctx, {sum, count}, dtype,
                            [](Element &e, ValueRange x) { return e.div(x[0], x[1]); }));
}

static LogicalResult lowerProd(Lowering &ctx) {
  return finish(ctx, reduce(
                         ctx, spaceOf(ctx), accumulator(ctx.resultDType()),
                         [](Element &e) { return e.constant(1); },
                         [](Element &e, ValueRange x) { return e.mul(x[0], x[1]); }));
}

static LogicalResult lowerCountNonZero(Lowering &ctx) {
  ReduceSpace space = spaceOf(ctx);
  DType input = space.input.dtype;
  Value zero = Element(ctx.b, ctx.loc, DType::I64).constant(0);
  auto counts = reduceMany(ctx, space, {}, DType::I64, zero,
                           [&](ReduceBody &body, ValueRange x, ValueRange sums) {
                             Element e(body.b, body.loc, DType::I64);
                             Value one = e.cast(e.as(input).isNonZero(x[0]), DType::Bool);
                             return SmallVector<Value>{e.add(sums[0], one)};
                           });
  return ctx.done(counts.front());
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

template <bool all>
static LogicalResult lowerTruth(Lowering &ctx) {
  return finish(ctx, reduce(
                         ctx, spaceOf(ctx), DType::Bool,
                         [](Element &e) { return e.constant(all ? 1 : 0); },
                         [](Element &e, ValueRange x) {
                           return all ? e.conjunction(x[0], x[1]) : e.disjunction(x[0], x[1]);
                         }));
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

/// The same for what no elements have none of.
static ReduceSpace extremeSpaceOf(Lowering &ctx) {
  ReduceSpace space = spaceOf(ctx);
  for (int64_t dim : space.dims)
    requireNonEmpty(ctx, ctx.sizeOf(space.input, dim), {}, dim, "an extreme along");
  return space;
}

static LogicalResult lowerMax(Lowering &ctx) {
  return finish(ctx, reduceMax(ctx, extremeSpaceOf(ctx)));
}
static LogicalResult lowerMin(Lowering &ctx) {
  return finish(ctx, reduceMin(ctx, extremeSpaceOf(ctx)));
}

static LogicalResult lowerAminmax(Lowering &ctx) {
  ReduceSpace space = extremeSpaceOf(ctx);
  return ctx.done({reduceMin(ctx, space), reduceMax(ctx, space)});
}

/// The extreme and the first position of it along one dimension; NaN counts as extreme.
template <bool max>
static SmallVector<Tensor> extremeAt(Lowering &ctx, const ReduceSpace &space, int64_t dim) {
  DType dtype = space.input.dtype;
  Element outside(ctx.b, ctx.loc, dtype);
  SmallVector<Value> initial = {max ? outside.lowest() : outside.highest(),
                                outside.as(DType::I64).constant(0)};
  return reduceMany(
      ctx, space, {}, {dtype, DType::I64}, initial,
      [&](ReduceBody &body, ValueRange x, ValueRange best) {
        Element e(body.b, body.loc, dtype);
        Value better = max ? e.gt(x[0], best[0]) : e.lt(x[0], best[0]);
        if (isFloat(dtype)) {
          Value bestIsNumber = e.complement(e.isNan(best[0]));
          better = e.disjunction(better, e.conjunction(e.isNan(x[0]), bestIsNumber));
        }
        Value position = !space.dims.empty()
                             ? body.position(dim)
                             : Value(arith::ConstantIndexOp::create(body.b, body.loc, 0));
        Value index = arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), position);
        return SmallVector<Value>{e.select(better, x[0], best[0]),
                                  e.select(better, index, best[1])};
      });
}

template <bool max>
static LogicalResult lowerExtremeAt(Lowering &ctx) {
  ReduceSpace space = extremeSpaceOf(ctx);
  int64_t dim = ctx.dim("dim", space.input.rank());
  auto results = extremeAt<max>(ctx, space, dim);
  return ctx.done({results[0], results[1]});
}

/// Without a dimension: the position in the flattened tensor.
template <bool max>
static LogicalResult lowerArgExtreme(Lowering &ctx) {
  ReduceSpace space = extremeSpaceOf(ctx);
  if (ctx.has("dim") || space.input.rank() == 0)
    return ctx.done(extremeAt<max>(ctx, space, ctx.dim("dim", space.input.rank())).back());
  int64_t rank = ctx.flag("keepdim") ? space.input.rank() : 0;
  SmallVector<OpFoldResult> ones(rank, ctx.b.getIndexAttr(1));
  ReduceSpace flat{flatten(ctx, space.input, 0, space.input.rank() - 1), {0}, false};
  return ctx.done(reshape(ctx, extremeAt<max>(ctx, flat, 0).back(), ones));
}

//===----------------------------------------------------------------------===//
// Variances: two passes
//===----------------------------------------------------------------------===//

static double correctionOf(Lowering &ctx) {
  return ctx.has("unbiased") ? (ctx.flag("unbiased") ? 1 : 0) : ctx.number("correction", 1);
}

/// The variance in opmath; `mean` (kept dimensions) is returned too.
static Tensor variance(Lowering &ctx, const ReduceSpace &space, bool root, Tensor &mean) {
  ReduceSpace kept = space;
  kept.keepDim = true;
  mean = reduceMean(ctx, kept);
  Tensor squares = reduceSquares(ctx, space, mean);
  double correction = correctionOf(ctx);
  Scalar count{Scalar::Kind::Int, reducedCount(ctx, space)};
  return pointwise(ctx, {squares, count}, squares.dtype, [&](Element &e, ValueRange x) {
    Value divisor = e.max(e.sub(x[1], e.constant(correction)), e.constant(0));
    Value value = e.div(x[0], divisor);
    return root ? e.sqrt(value) : value;
  });
}

template <bool root>
static LogicalResult lowerVariance(Lowering &ctx) {
  ReduceSpace space = spaceOf(ctx);
  Tensor mean = space.input;
  return finish(ctx, variance(ctx, space, root, mean));
}

template <bool root>
static LogicalResult lowerVarianceMean(Lowering &ctx) {
  ReduceSpace space = spaceOf(ctx);
  Tensor mean = space.input;
  Tensor spread = castTo(ctx, variance(ctx, space, root, mean), ctx.resultDType(0));
  if (!space.keepDim)
    mean = dropUnitDims(ctx, mean, space.dims);
  return ctx.done({spread, castTo(ctx, mean, ctx.resultDType(1))});
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static LogicalResult lowerNorm(Lowering &ctx) {
  return finish(ctx, pNorm(ctx, spaceOf(ctx), ctx.number(ctx.has("ord") ? "ord" : "p", 2)));
}

static LogicalResult lowerDist(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), other = ctx.tensor("other");
  self = broadcastTo(ctx, self, broadcastSizes(ctx, {self, other}));
  return finish(ctx, pNorm(ctx, {self, allDims(self), false}, ctx.number("p", 2), other));
}

Family reductionsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.sum", lowerSum},
      {"torch.aten.sum.dim_IntList", lowerSum},
      {"torch.prims.sum", lowerSum},
      {"torch.aten.mean", lowerMean},
      {"torch.aten.mean.dim", lowerMean},
      {"torch.aten.nansum", lowerNanSum},
      {"torch.aten.nanmean", lowerNanMean},
      {"torch.aten.prod", lowerProd},
      {"torch.aten.prod.dim_int", lowerProd},
      {"torch.prims.prod", lowerProd},
      {"torch.aten.count_nonzero", lowerCountNonZero},
      {"torch.aten.count_nonzero.dim_IntList", lowerCountNonZero},
      {"torch.aten.any", lowerTruth<false>},
      {"torch.aten.any.dim", lowerTruth<false>},
      {"torch.aten.any.dims", lowerTruth<false>},
      {"torch.aten.all", lowerTruth<true>},
      {"torch.aten.all.dim", lowerTruth<true>},
      {"torch.aten.all.dims", lowerTruth<true>},
      {"torch.aten._is_all_true", lowerTruth<true>},
      {"torch.aten._is_any_true", lowerTruth<false>},
      {"torch.aten.amax", lowerMax},
      {"torch.aten.max", lowerMax},
      {"torch.prims.amax", lowerMax},
      {"torch.aten.amin", lowerMin},
      {"torch.aten.min", lowerMin},
      {"torch.prims.amin", lowerMin},
      {"torch.aten.aminmax", lowerAminmax},
      {"torch.aten.max.dim", lowerExtremeAt<true>},
      {"torch.aten.min.dim", lowerExtremeAt<false>},
      {"torch.aten.argmax", lowerArgExtreme<true>},
      {"torch.aten.argmin", lowerArgExtreme<false>},
      {"torch.aten.var", lowerVariance<false>},
      {"torch.aten.var.dim", lowerVariance<false>},
      {"torch.aten.var.correction", lowerVariance<false>},
      {"torch.prims.var", lowerVariance<false>},
      {"torch.aten.std", lowerVariance<true>},
      {"torch.aten.std.dim", lowerVariance<true>},
      {"torch.aten.std.correction", lowerVariance<true>},
      {"torch.aten.var_mean", lowerVarianceMean<false>},
      {"torch.aten.var_mean.dim", lowerVarianceMean<false>},
      {"torch.aten.var_mean.correction", lowerVarianceMean<false>},
      {"torch.aten.std_mean", lowerVarianceMean<true>},
      {"torch.aten.std_mean.dim", lowerVarianceMean<true>},
      {"torch.aten.std_mean.correction", lowerVarianceMean<true>},
      {"torch.aten.norm.Scalar", lowerNorm},
      {"torch.aten.norm.ScalarOpt_dim", lowerNorm},
      {"torch.aten.norm.ScalarOpt_dtype", lowerNorm},
      {"torch.aten.norm.ScalarOpt_dim_dtype", lowerNorm},
      {"torch.aten.linalg_vector_norm", lowerNorm},
      {"torch.aten.frobenius_norm.dim", lowerNorm},
      {"torch.aten.dist", lowerDist},
  };
  return {"Reductions", rows};
}

} // namespace tw::lower
