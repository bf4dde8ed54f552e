// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sampling at positions that a grid of coordinates in [-1, 1] names, and the grids of affine
// transformations.
#include "TorchToGraph/Vision/GridSample.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::lower {
namespace {

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Value times(const Element &e, Value x, double factor) { return e.mul(x, e.constant(factor)); }

/// From [-1, 1] to positions: the corners are the first and last elements' centres or edges.
Value toPosition(const Element &e, Value x, Value size, bool alignCorners) {
  Value one = e.constant(1.0), shifted = e.add(x, one);
  if (alignCorners)
    return e.mul(times(e, shifted, 0.5), e.sub(size, one));
  return times(e, e.sub(e.mul(shifted, size), one), 0.5);
}

Value clip(const Element &e, Value x, Value size) {
  Value last = e.sub(size, e.constant(1.0));
  // A NaN counts as the first position.
  Value positive = e.select(e.gt(x, e.constant(0.0)), x, e.constant(0.0));
  return e.min(positive, last);
}

/// Where x lies among the mirrors at the centres (aligned corners) or edges of the first and last
/// elements.
struct Mirror {
  Value offset, span;     // from the first mirror; between two mirrors
  Value isEven, distance; // whether it was mirrored an even number of times; from the last mirror
};

double firstMirror(bool alignCorners) { return alignCorners ? 0.0 : -0.5; }

Mirror mirrorAt(const Element &e, Value x, Value size, bool alignCorners) {
  Value span = alignCorners ? e.sub(size, e.constant(1.0)) : size;
  Value offset = e.sub(x, e.constant(firstMirror(alignCorners))), distance = e.abs(offset);
  Value turns = e.floor(e.div(distance, span));
  Value isEven = e.eq(times(e, e.floor(times(e, turns, 0.5)), 2.0), turns);
  return {offset, span, isEven, e.fmod(distance, span)};
}

Value reflect(const Element &e, Value x, Value size, bool alignCorners) {
  Mirror m = mirrorAt(e, x, size, alignCorners);
  Value rest = e.select(m.isEven, m.distance, e.sub(m.span, m.distance));
  Value mirrored = e.add(rest, e.constant(firstMirror(alignCorners)));
  return e.select(e.gt(m.span, e.constant(0.0)), mirrored, e.constant(0.0));
}

Value padded(const Element &e, Value x, Value size, const GridSampling &s) {
  if (s.padding == Padding::Zeros)
    return x;
  if (s.padding == Padding::Reflection)
    x = reflect(e, x, size, s.alignCorners);
  return clip(e, x, size);
}

/// How the padded position changes with the position `x`: not at all beyond the border, the other
/// way where it is mirrored.
Value paddedSlope(const Element &e, Value x, Value size, const GridSampling &s) {
  Value one = e.constant(1.0), zero = e.constant(0.0);
  if (s.padding == Padding::Zeros)
    return one;
  Value slope = one;
  if (s.padding == Padding::Reflection) {
    Mirror m = mirrorAt(e, x, size, s.alignCorners);
    Value isForward = e.exclusive(m.isEven, e.lt(m.offset, zero));
    slope = e.select(e.gt(m.span, zero), e.select(isForward, one, e.constant(-1.0)), zero);
    x = reflect(e, x, size, s.alignCorners);
  }
  Value inside = e.conjunction(e.gt(x, zero), e.lt(x, e.sub(size, one)));
  return e.select(inside, slope, zero);
}

/// A tap at the whole number `x`; outside of the dimension it reads nothing.
Tap tapAt(const Element &e, Value x, Value size, Value weight) {
  BodyIndex i{e.b, e.loc};
  Value index = i.fromFloat(e, x);
  return {i.clamp(index, size), weight, i.isInside(index, size)};
}

/// The four taps around `low`, each padded by itself.
Taps cubicTaps(const Element &e, const GridSampling &s, Value low, ArrayRef<Value> weights,
               int64_t dim) {
  Value size = s.inputSizes[dim], sizeNumber = BodyIndex{e.b, e.loc}.toFloat(e, size);
  Taps taps;
  for (auto [k, weight] : llvm::enumerate(weights)) {
    Value at = padded(e, e.add(low, e.constant(int64_t(k) - 1)), sizeNumber, s);
    taps.push_back(tapAt(e, at, size, weight));
  }
  return taps;
}

} // namespace

Value coordinateAt(const GatherBody &body, const Element &e, const GridSampling &s,
                   ArrayRef<Value> position, int64_t dim) {
  SmallVector<Value> place(position);
  place.push_back(body.constant(s.spatial() - 1 - dim));
  return e.cast(body.read(s.grid, place), s.grid.dtype);
}

Taps tapsAt(const Element &e, const GridSampling &s, Value coordinate, int64_t dim) {
  BodyIndex i{e.b, e.loc};
  Value size = s.inputSizes[dim], sizeNumber = i.toFloat(e, size), one = e.constant(1.0);
  Value x = toPosition(e, coordinate, sizeNumber, s.alignCorners);
  if (s.interpolation == Interpolation::Cubic) {
    Value low = e.floor(x);
    return cubicTaps(e, s, low, cubicWeights(e, e.sub(x, low)), dim);
  }
  x = padded(e, x, sizeNumber, s);
  if (s.interpolation == Interpolation::Nearest)
    return {tapAt(e, math::RoundEvenOp::create(e.b, e.loc, x), size, {})};
  Value low = e.floor(x), high = e.add(low, one);
  return {tapAt(e, low, size, e.sub(high, x)), tapAt(e, high, size, e.sub(x, low))};
}

Taps slopesAt(const Element &e, const GridSampling &s, Value coordinate, int64_t dim) {
  BodyIndex i{e.b, e.loc};
  Value size = s.inputSizes[dim], sizeNumber = i.toFloat(e, size), one = e.constant(1.0);
  Value x = toPosition(e, coordinate, sizeNumber, s.alignCorners);
  Value span = s.alignCorners ? e.sub(sizeNumber, one) : sizeNumber, slope = times(e, span, 0.5);
  if (s.interpolation == Interpolation::Cubic) {
    Value low = e.floor(x);
    SmallVector<Value> slopes = cubicSlopes(e, e.sub(x, low));
    for (Value &each : slopes)
      each = e.mul(each, slope);
    return cubicTaps(e, s, low, slopes, dim);
  }
  slope = e.mul(slope, paddedSlope(e, x, sizeNumber, s));
  Value low = e.floor(padded(e, x, sizeNumber, s)), high = e.add(low, one);
  return {tapAt(e, low, size, e.neg(slope)), tapAt(e, high, size, slope)};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

int64_t GridSampling::tapCount() const {
  return interpolation == Interpolation::Nearest ? 1
         : interpolation == Interpolation::Cubic ? 4
                                                 : 2;
}

std::optional<GridSampling> readGridSampling(Lowering &ctx) {
  Tensor input = ctx.tensor("input"), grid = ctx.tensor("grid");
  int64_t spatial = input.rank() - 2;
  int64_t interpolation = ctx.integer("interpolation_mode"), padding = ctx.integer("padding_mode");
  if (ctx.hasRefused())
    return std::nullopt;
  if (spatial != 2 && spatial != 3)
    ctx.refuse("the input must have 4 or 5 dimensions, and has " + Twine(input.rank()));
  else if (interpolation < 0 || interpolation > 2 || padding < 0 || padding > 2)
    ctx.refuse("interpolation_mode and padding_mode must be 0, 1 or 2");
  else if (interpolation == 2 && spatial == 3)
    ctx.refuse("cubic interpolation (interpolation_mode=2) exists for 4-d inputs only");
  else if (!isFloat(input.dtype))
    ctx.refuse("only floating-point tensors can be sampled");
  if (ctx.hasRefused() || !ctx.needsRank(grid, spatial + 2, "the grid"))
    return std::nullopt;
  GridSampling s{
      input, grid, Interpolation(interpolation), Padding(padding), ctx.flag("align_corners"),
      {},    {}};
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(input), gridSizes = ctx.sizesOf(grid);
  ctx.requireEqual(sizes[0], gridSizes[0]);
  ctx.requireEqual(gridSizes.back(), ctx.b.getIndexAttr(spatial));
  for (int64_t d = 0; d < spatial; ++d) {
    if (constantOf(sizes[2 + d]) == 0)
      ctx.refuse("the sampled dimensions must not be empty");
    requireNonEmpty(ctx, sizes[2 + d], ArrayRef(gridSizes).drop_back(), 2 + d);
    s.outputSizes.push_back(gridSizes[1 + d]);
    s.inputSizes.push_back(IndexMath{ctx.b, ctx.loc}.value(sizes[2 + d]));
  }
  if (ctx.hasRefused())
    return std::nullopt;
  return s;
}

/// input [n, c, spatial...] at grid [n, out..., coordinates], the last dimension's first.
static LogicalResult lowerGridSampler(Lowering &ctx) {
  std::optional<GridSampling> sampling = readGridSampling(ctx);
  if (!sampling)
    return failure();
  const Tensor &input = sampling->input;
  SmallVector<OpFoldResult> out(ArrayRef(ctx.sizesOf(input)).take_front(2));
  llvm::append_range(out, sampling->outputSizes);
  DType compute = opmath(input.dtype);
  return ctx.done(gather(ctx, ctx.refined(out), input.dtype, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, compute);
    SmallVector<Value> position = positions(body, input.rank()), place(position);
    place.erase(place.begin() + 1);
    SmallVector<Taps> taps;
    for (int64_t d = 0; d < sampling->spatial(); ++d)
      taps.push_back(tapsAt(e, *sampling, coordinateAt(body, e, *sampling, place, d), d));
    return Element(body.b, body.loc, input.dtype)
        .cast(sumOfTaps(e, input, position, taps), compute);
  }));
}

namespace {
/// Of `size` equally spaced places from -1 to 1 the one at `position`: centres or, with aligned
/// corners, ends included. What depends on the size alone is computed outside.
struct EvenSpacing {
  Value half, last, step, shrink; // index, index, float, float

  EvenSpacing(Lowering &ctx, const Element &e, OpFoldResult size, bool alignCorners) {
    IndexMath m{ctx.b, ctx.loc};
    BodyIndex i{ctx.b, ctx.loc};
    OpFoldResult one = m.constant(1), steps = m.max(m.sub(size, one), one);
    half = m.value(m.floorDiv(size, m.constant(2)));
    last = m.value(m.sub(size, one));
    step = e.div(e.constant(2.0), i.toFloat(e, m.value(steps)));
    Value count = i.toFloat(e, m.value(size)), less = e.sub(count, e.constant(1.0));
    shrink = alignCorners ? Value() : e.div(less, count);
    single = e.eq(count, e.constant(1.0));
  }

  Value at(const Element &e, Value position) const {
    BodyIndex i{e.b, e.loc};
    auto from = [&](Value steps) { return e.mul(step, i.toFloat(e, steps)); };
    Value isFirstHalf =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt, position, half);
    Value back = arith::SubIOp::create(e.b, e.loc, last, position);
    Value x = e.select(isFirstHalf, e.add(e.constant(-1.0), from(position)),
                       e.sub(e.constant(1.0), from(back)));
    if (shrink)
      x = e.mul(x, shrink);
    return e.select(single, e.constant(0.0), x);
  }

private:
  Value single;
};

} // namespace

/// theta [n, spatial, spatial + 1] times the homogeneous coordinates of each place of `size`
/// [n, c, spatial...].
static LogicalResult lowerAffineGrid(Lowering &ctx) {
  Tensor theta = ctx.tensor("theta");
  SmallVector<OpFoldResult> size = ctx.sizes("size");
  int64_t spatial = int64_t(size.size()) - 2;
  if (ctx.hasRefused() || !ctx.needsRank(theta, 3, "theta"))
    return failure();
  if ((spatial != 2 && spatial != 3) || !isFloat(theta.dtype))
    return ctx.refuse("it needs a floating-point theta and a size of 4 or 5 elements");
  SmallVector<OpFoldResult> matrix = ctx.sizesOf(theta);
  ctx.requireEqual(matrix[0], size[0]);
  ctx.requireEqual(matrix[1], ctx.b.getIndexAttr(spatial));
  ctx.requireEqual(matrix[2], ctx.b.getIndexAttr(spatial + 1));
  Element outside(ctx.b, ctx.loc, opmath(theta.dtype));
  SmallVector<EvenSpacing> spacings;
  SmallVector<OpFoldResult> out = {size[0]};
  for (OpFoldResult extent : ArrayRef(size).drop_front(2)) {
    spacings.emplace_back(ctx, outside, extent, ctx.flag("align_corners"));
    out.push_back(extent);
  }
  out.push_back(ctx.b.getIndexAttr(spatial));
  if (ctx.hasRefused())
    return failure();
  return ctx.done(gather(ctx, ctx.refined(out), theta.dtype, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, outside.dtype);
    auto weight = [&](int64_t column) {
      Value at[] = {body.position(0), body.position(spatial + 1), body.constant(column)};
      return e.cast(body.read(theta, at), theta.dtype);
    };
    Value sum = weight(spatial);
    for (int64_t d = 0; d < spatial; ++d) { // theta's first column is for the last dimension
      Value x = spacings[d].at(e, body.position(1 + d));
      sum = e.add(sum, e.mul(weight(spatial - 1 - d), x));
    }
    return Element(body.b, body.loc, theta.dtype).cast(sum, outside.dtype);
  }));
}

Family gridSampleFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.grid_sampler", lowerGridSampler},
      {"torch.aten.grid_sampler_2d", lowerGridSampler},
      {"torch.aten.grid_sampler_3d", lowerGridSampler},
      {"torch.aten.affine_grid_generator", lowerAffineGrid},
  };
  return {"Grid sampling", rows};
}

} // namespace tw::lower
