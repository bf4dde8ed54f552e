// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resampling with antialiasing: each resampled dimension is a product with a matrix of weights
// [output, input], the width first. When it makes something smaller, the filter grows with the
// scale. The matrices depend on sizes alone, so static ones are computed at compile time.
#include "TorchToGraph/Builders/Contract.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Vision/Resampling.h"
#include "TorchToGraph/Vision/Taps.h"

using namespace mlir;

namespace tw::lower {
namespace {

enum class Filter { Linear, Cubic };

/// 1 - |x| up to distance 1, or cubic convolution with a = -0.5 up to 2; 0 beyond.
Value filterAt(const Element &e, Filter filter, Value x) {
  constexpr double a = -0.5;
  Value zero = e.constant(0.0), one = e.constant(1.0);
  x = e.abs(x);
  if (filter == Filter::Linear)
    return e.max(e.sub(one, x), zero);
  auto times = [&](Value x, double factor) { return e.mul(x, e.constant(factor)); };
  auto plus = [&](Value x, double term) { return e.add(x, e.constant(term)); };
  Value near = plus(e.mul(e.mul(plus(times(x, a + 2), -(a + 3)), x), x), 1.0);
  Value far = times(plus(e.mul(plus(e.mul(plus(x, -5.0), x), 8.0), x), -4.0), a);
  return e.select(e.lt(x, one), near, e.select(e.lt(x, e.constant(2.0)), far, zero));
}

/// The weights [out, in] of one dimension; each row sums to 1.
Tensor weights(Lowering &ctx, Filter filter, DType dtype, OpFoldResult in, OpFoldResult out,
               Value scale) {
  Element outside(ctx.b, ctx.loc, dtype);
  Value inSize = IndexMath{ctx.b, ctx.loc}.value(in);
  Value stretch = outside.max(scale, outside.constant(1.0));
  Value support = outside.mul(stretch, outside.constant(filter == Filter::Linear ? 1.0 : 2.0));
  Tensor raw = gather(ctx, {out, in}, dtype, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, dtype);
    BodyIndex i{body.b, body.loc};
    Value half = e.constant(0.5), place = body.position(1);
    Value center = e.mul(scale, e.add(i.toFloat(e, body.position(0)), half));
    Value first = i.max(i.fromFloat(e, e.add(e.sub(center, support), half)), i.constant(0));
    Value end = i.min(i.fromFloat(e, e.add(e.add(center, support), half)), inSize);
    Value distance = e.add(e.sub(i.toFloat(e, place), center), half);
    Value weight = filterAt(e, filter, e.div(distance, stretch));
    Value counts =
        e.conjunction(i.isInside(i.sub(place, first), i.sub(end, first)), i.isInside(first, end));
    return e.select(counts, weight, e.constant(0.0));
  });
  Tensor sum = reduceSum(ctx, {raw, {1}, /*keepDim=*/true}, dtype);
  return pointwise(
      ctx, {raw, sum}, dtype,
      [](Element &e, ValueRange x) {
        return e.select(e.eq(x[1], e.constant(0.0)), x[0], e.div(x[0], x[1]));
      },
      dtype);
}

/// The weights of the rows and of the columns.
struct Matrices {
  Tensor rows, columns;
};

Matrices matrices(Lowering &ctx, Filter filter, DType dtype, ArrayRef<OpFoldResult> from,
                  ArrayRef<OpFoldResult> to, ArrayRef<std::optional<double>> factors) {
  auto make = [&](int64_t d) {
    constexpr DType exact = DType::F64; // there are few weights, and each counts in many sums
    OpFoldResult in = from[2 + d], out = to[2 + d];
    Value scale = resamplingScale(ctx, exact, in, out, ctx.flag("align_corners"), factors[d]);
    return castTo(ctx, weights(ctx, filter, exact, in, out, scale), dtype);
  };
  return {make(0), make(1)};
}

template <Filter filter>
LogicalResult lowerAntialiased(Lowering &ctx) {
  Tensor input = ctx.tensor(ctx.has("input") ? "input" : "self");
  auto factors = readFactors(ctx, 2);
  if (ctx.hasRefused() || !ctx.needsRank(input, 4, "the input"))
    return failure();
  if (!isFloat(input.dtype))
    return ctx.refuse("only floating-point tensors can be interpolated");
  SmallVector<OpFoldResult> to = resampledSizes(ctx, input, factors);
  if (ctx.hasRefused())
    return failure();
  DType dtype = coordinateDType(input.dtype);
  Matrices m = matrices(ctx, filter, dtype, ctx.sizesOf(input), to, factors);
  Tensor wide = contract(ctx, {input, "nchw"}, {m.columns, "qw"}, "nchq", dtype);
  Tensor result = contract(ctx, {wide, "nchq"}, {m.rows, "ph"}, "ncpq", dtype);
  return ctx.done(castTo(ctx, result, input.dtype));
}

template <Filter filter>
LogicalResult lowerAntialiasedBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output");
  SmallVector<OpFoldResult> from = ctx.sizes("input_size");
  auto factors = readFactors(ctx, 2);
  if (ctx.hasRefused() || !ctx.needsRank(gradient, 4, "the gradient"))
    return failure();
  if (from.size() != 4)
    return ctx.refuse("input_size must have 4 elements");
  DType dtype = coordinateDType(gradient.dtype);
  Matrices m = matrices(ctx, filter, dtype, ctx.refined(from), ctx.sizesOf(gradient), factors);
  Tensor tall = contract(ctx, {gradient, "ncpq"}, {m.rows, "ph"}, "nchq", dtype);
  Tensor result = contract(ctx, {tall, "nchq"}, {m.columns, "qw"}, "nchw", dtype);
  return ctx.done(castTo(ctx, result, gradient.dtype));
}

} // namespace

Family antialiasedFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten._upsample_bilinear2d_aa", lowerAntialiased<Filter::Linear>},
      {"torch.aten._upsample_bilinear2d_aa.vec", lowerAntialiased<Filter::Linear>},
      {"torch.aten._upsample_bilinear2d_aa_backward", lowerAntialiasedBackward<Filter::Linear>},
      {"torch.aten._upsample_bicubic2d_aa", lowerAntialiased<Filter::Cubic>},
      {"torch.aten._upsample_bicubic2d_aa.vec", lowerAntialiased<Filter::Cubic>},
      {"torch.aten._upsample_bicubic2d_aa_backward", lowerAntialiasedBackward<Filter::Cubic>},
  };
  return {"Resampling with antialiasing", rows};
}

} // namespace tw::lower
