// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sampling at positions that a grid of coordinates in [-1, 1] names, and the grids of affine
// transformations.
#include "TorchToGraph/Builders/Gather.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Pointwise.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Taps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::lower {
namespace {

// The numbers PyTorch gives them.
enum class Interpolation : int64_t { Linear = 0, Nearest = 1, Cubic = 2 };
enum class Padding : int64_t { Zeros = 0, Border = 1, Reflection = 2 };

struct Sampling {
  Interpolation interpolation;
  Padding padding;
  bool alignCorners;
};

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

/// Mirrors x at the centres (aligned corners) or edges of the first and last elements.
Value reflect(const Element &e, Value x, Value size, bool alignCorners) {
  double low = alignCorners ? 0.0 : -0.5;
  Value span = alignCorners ? e.sub(size, e.constant(1.0)) : size;
  Value distance = e.abs(e.sub(x, e.constant(low)));
  Value turns = e.floor(e.div(distance, span));
  Value rest = e.fmod(distance, span);
  Value isEven = e.eq(times(e, e.floor(times(e, turns, 0.5)), 2.0), turns);
  Value mirrored = e.add(e.select(isEven, rest, e.sub(span, rest)), e.constant(low));
  return e.select(e.gt(span, e.constant(0.0)), mirrored, e.constant(0.0));
}

Value padded(const Element &e, Value x, Value size, const Sampling &s) {
  if (s.padding == Padding::Zeros)
    return x;
  if (s.padding == Padding::Reflection)
    x = reflect(e, x, size, s.alignCorners);
  return clip(e, x, size);
}

/// A tap at the whole number `x`; outside of the dimension it reads nothing.
Tap tapAt(const Element &e, Value x, Value size, Value weight) {
  BodyIndex i{e.b, e.loc};
  Value index = i.fromFloat(e, x);
  return {i.clamp(index, size), weight, i.isInside(index, size)};
}

Taps tapsAt(const Element &e, Value coordinate, Value size, const Sampling &s) {
  BodyIndex i{e.b, e.loc};
  Value sizeNumber = i.toFloat(e, size), one = e.constant(1.0);
  Value x = toPosition(e, coordinate, sizeNumber, s.alignCorners);
  if (s.interpolation == Interpolation::Cubic) {
    Value low = e.floor(x);
    Taps taps;
    for (auto [k, weight] : llvm::enumerate(cubicWeights(e, e.sub(x, low)))) {
      Value at = padded(e, e.add(low, e.constant(int64_t(k) - 1)), sizeNumber, s);
      taps.push_back(tapAt(e, at, size, weight));
    }
    return taps;
  }
  x = padded(e, x, sizeNumber, s);
  if (s.interpolation == Interpolation::Nearest)
    return {tapAt(e, math::RoundEvenOp::create(e.b, e.loc, x), size, {})};
  Value low = e.floor(x), high = e.add(low, one);
  return {tapAt(e, low, size, e.sub(high, x)), tapAt(e, high, size, e.sub(x, low))};
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

std::optional<Sampling> readSampling(Lowering &ctx, int64_t spatial) {
  int64_t interpolation = ctx.integer("interpolation_mode"), padding = ctx.integer("padding_mode");
  if (interpolation < 0 || interpolation > 2 || padding < 0 || padding > 2)
    ctx.refuse("interpolation_mode and padding_mode must be 0, 1 or 2");
  else if (interpolation == 2 && spatial == 3)
    ctx.refuse("cubic interpolation (interpolation_mode=2) exists for 4-d inputs only");
  if (ctx.hasRefused())
    return std::nullopt;
  return Sampling{Interpolation(interpolation), Padding(padding), ctx.flag("align_corners")};
}

/// input [n, c, spatial...] at grid [n, out..., coordinates], the last dimension's first.
LogicalResult lowerGridSampler(Lowering &ctx) {
  Tensor input = ctx.tensor("input"), grid = ctx.tensor("grid");
  int64_t spatial = input.rank() - 2;
  if (ctx.hasRefused())
    return failure();
  if (spatial != 2 && spatial != 3)
    return ctx.refuse("the input must have 4 or 5 dimensions, and has " + Twine(input.rank()));
  std::optional<Sampling> sampling = readSampling(ctx, spatial);
  if (!sampling || !ctx.needsRank(grid, spatial + 2, "the grid"))
    return failure();
  if (!isFloat(input.dtype))
    return ctx.refuse("only floating-point tensors can be sampled");
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(input), gridSizes = ctx.sizesOf(grid);
  ctx.requireEqual(sizes[0], gridSizes[0]);
  ctx.requireEqual(gridSizes.back(), ctx.b.getIndexAttr(spatial));
  IndexMath m{ctx.b, ctx.loc};
  SmallVector<OpFoldResult> out = {sizes[0], sizes[1]};
  SmallVector<Value> inSizes;
  for (int64_t d = 0; d < spatial; ++d) {
    if (constantOf(sizes[2 + d]) == 0)
      return ctx.refuse("the sampled dimensions must not be empty");
    out.push_back(gridSizes[1 + d]);
    inSizes.push_back(m.value(sizes[2 + d]));
  }
  if (ctx.hasRefused())
    return failure();
  DType compute = opmath(input.dtype);
  return ctx.done(gather(ctx, ctx.refined(out), input.dtype, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, compute);
    SmallVector<Value> position, place;
    for (int64_t d = 0; d < input.rank(); ++d)
      position.push_back(body.position(d));
    place.push_back(position[0]);
    llvm::append_range(place, ArrayRef(position).drop_front(2));
    place.push_back({});
    SmallVector<Taps> taps;
    for (int64_t d = 0; d < spatial; ++d) {
      place.back() = body.constant(spatial - 1 - d);
      Value coordinate = e.cast(body.read(grid, place), grid.dtype);
      taps.push_back(tapsAt(e, coordinate, inSizes[d], *sampling));
    }
    return Element(body.b, body.loc, input.dtype)
        .cast(sumOfTaps(e, input, position, taps), compute);
  }));
}

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

/// theta [n, spatial, spatial + 1] times the homogeneous coordinates of each place of `size`
/// [n, c, spatial...].
LogicalResult lowerAffineGrid(Lowering &ctx) {
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

} // namespace

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
