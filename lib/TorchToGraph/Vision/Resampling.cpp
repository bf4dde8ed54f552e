// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// upsample_* (what torch.nn.functional.interpolate becomes) and their gradients. Each output
// position reads one, two or four taps in each resampled dimension; the gradient adds to them.
//
// Coordinates are computed in the order in which PyTorch's CPU kernels compute them, in f32 (f64
// for f64), so that the same elements are picked where a coordinate falls between two.
#include "TorchToGraph/Vision/Resampling.h"
#include "IR/Graph/Graph.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Vision/Taps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tw::lower {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value resamplingScale(Lowering &ctx, DType dtype, OpFoldResult in, OpFoldResult out, bool align,
                      std::optional<double> factor) {
  Element e(ctx.b, ctx.loc, dtype);
  IndexMath m{ctx.b, ctx.loc};
  BodyIndex x{ctx.b, ctx.loc};
  if (!align && factor && *factor > 0)
    return e.constant(1.0 / *factor);
  auto inSize = constantOf(in), outSize = constantOf(out);
  if (inSize && outSize) {
    int64_t less = align ? 1 : 0;
    return e.constant(*outSize > less ? double(*inSize - less) / double(*outSize - less) : 0.0);
  }
  if (!align)
    return e.div(x.toFloat(e, m.value(in)), x.toFloat(e, m.value(out)));
  OpFoldResult one = m.constant(1);
  Value steps = x.toFloat(e, m.value(m.sub(out, one)));
  Value ratio = e.div(x.toFloat(e, m.value(m.sub(in, one))), steps);
  return e.select(e.gt(steps, e.constant(0)), ratio, e.constant(0));
}

/// floor(size * factor), as PyTorch computes it, in f64.
static OpFoldResult scaledSize(Lowering &ctx, OpFoldResult size, double factor) {
  IndexMath m{ctx.b, ctx.loc};
  if (auto known = constantOf(size))
    return m.constant(int64_t(double(*known) * factor));
  if (factor == double(int64_t(factor)))
    return m.mul(size, m.constant(int64_t(factor)));
  Element e(ctx.b, ctx.loc, DType::F64);
  BodyIndex i{ctx.b, ctx.loc};
  return i.fromFloat(e, e.mul(i.toFloat(e, m.value(size)), e.constant(factor)));
}

SmallVector<std::optional<double>> readFactors(Lowering &ctx, int64_t spatial) {
  SmallVector<std::optional<double>> factors(spatial);
  auto read = [&](const Operand &operand, std::optional<double> &into) {
    if (operand.isNone())
      return;
    into = operand.scalar() ? operand.scalar()->constantNumber() : std::nullopt;
    if (!into)
      ctx.refuse("scale factors must be known at compile time");
  };
  if (auto list = ctx.arg("scale_factors").list()) {
    if (int64_t(list->size()) != spatial)
      ctx.refuse("it has " + Twine(int64_t(list->size())) + " scale factors for " +
                 counted(spatial, "dimension"));
    else
      for (auto [operand, factor] : llvm::zip_equal(*list, factors))
        read(operand, factor);
    return factors;
  }
  static constexpr const char *names[] = {"scales_d", "scales_h", "scales_w"};
  if (spatial == 1)
    read(ctx.arg("scales"), factors[0]);
  else
    for (int64_t d = 0; d < spatial; ++d)
      read(ctx.arg(names[3 - spatial + d]), factors[d]);
  return factors;
}

SmallVector<OpFoldResult> resampledSizes(Lowering &ctx, const Tensor &input,
                                         ArrayRef<std::optional<double>> factors) {
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(input);
  SmallVector<OpFoldResult> given =
      ctx.has("output_size") ? ctx.sizes("output_size") : SmallVector<OpFoldResult>();
  if (!given.empty() && given.size() != factors.size()) {
    ctx.refuse("output_size must have " + counted(factors.size(), "element"));
    return sizes;
  }
  for (auto [d, factor] : llvm::enumerate(factors)) {
    if (given.empty() && !factor) {
      ctx.refuse("it has neither output_size nor scale_factors");
      return sizes;
    }
    sizes[2 + d] = given.empty() ? scaledSize(ctx, sizes[2 + d], *factor) : given[d];
  }
  return ctx.refined(sizes);
}

namespace {

enum class Mode { Nearest, NearestExact, Linear, Cubic };

constexpr int64_t tapsOf(Mode mode) {
  return mode == Mode::Cubic ? 4 : mode == Mode::Linear ? 2 : 1;
}

/// One resampled dimension; all values are from outside of bodies.
struct Axis {
  Value in;    // input size, an index
  Value scale; // input positions for one output position
  Value same;  // i1: the sizes are equal; null when they are known not to be
  bool alignCorners = false;
};

/// What both directions share.
struct Resampling {
  SmallVector<OpFoldResult> from, to; // all sizes of the input and of the output
  SmallVector<Axis> axes;
  DType compute = DType::F32;
};

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Axis makeAxis(Lowering &ctx, DType dtype, OpFoldResult in, OpFoldResult out, bool align,
              std::optional<double> factor) {
  IndexMath m{ctx.b, ctx.loc};
  Axis axis{m.value(in), resamplingScale(ctx, dtype, in, out, align, factor), {}, align};
  auto inSize = constantOf(in), outSize = constantOf(out);
  if (!inSize || !outSize || *inSize == *outSize)
    axis.same =
        arith::CmpIOp::create(ctx.b, ctx.loc, arith::CmpIPredicate::eq, axis.in, m.value(out));
  return axis;
}

/// The input coordinate of an output position.
Value coordinate(const Element &e, Mode mode, const Axis &axis, Value position) {
  bool corner = axis.alignCorners || mode == Mode::Nearest;
  if (corner)
    return e.mul(axis.scale, position);
  Value half = e.constant(0.5);
  Value x = e.sub(e.mul(axis.scale, e.add(position, half)), half);
  return mode == Mode::Cubic ? x : e.max(x, e.constant(0.0));
}

Taps linearTaps(const Element &e, const Axis &axis, Value position, Value x) {
  BodyIndex i{e.b, e.loc};
  Value last = i.add(axis.in, i.constant(-1));
  Value low = i.min(i.fromFloat(e, x), last);
  Value weight = e.sub(x, i.toFloat(e, low));
  weight = e.min(e.max(weight, e.constant(0.0)), e.constant(1.0));
  Value high = i.min(i.add(low, i.constant(1)), last);
  if (axis.same) {
    Value at = i.min(position, last);
    low = e.select(axis.same, at, low);
    high = e.select(axis.same, at, high);
    weight = e.select(axis.same, e.constant(0.0), weight);
  }
  return {{low, e.sub(e.constant(1.0), weight), {}}, {high, weight, {}}};
}

Taps cubicTaps(const Element &e, const Axis &axis, Value x) {
  BodyIndex i{e.b, e.loc};
  Value floor = e.floor(x);
  Value low = i.min(i.fromFloat(e, floor), i.add(axis.in, i.constant(-1)));
  Value t = e.sub(x, i.toFloat(e, low));
  t = e.min(e.max(t, e.constant(0.0)), e.constant(1.0));
  Taps taps;
  for (auto [k, weight] : llvm::enumerate(cubicWeights(e, t)))
    taps.push_back({i.clamp(i.add(low, i.constant(int64_t(k) - 1)), axis.in), weight, {}});
  return taps;
}

/// The taps of the output position `position` (an index) along `axis`.
Taps tapsAt(const Element &e, Mode mode, const Axis &axis, Value position) {
  BodyIndex i{e.b, e.loc};
  Value x = coordinate(e, mode, axis, i.toFloat(e, position));
  if (mode == Mode::Linear)
    return linearTaps(e, axis, position, x);
  if (mode == Mode::Cubic)
    return cubicTaps(e, axis, x);
  if (mode == Mode::NearestExact)
    x = e.add(x, e.constant(0.5));
  return {{i.min(i.fromFloat(e, x), i.add(axis.in, i.constant(-1))), {}, {}}};
}

void addAxes(Lowering &ctx, Resampling &r, int64_t spatial,
             ArrayRef<std::optional<double>> factors) {
  size_t first = r.from.size() - spatial;
  for (int64_t d = 0; d < spatial; ++d) {
    if (constantOf(r.from[first + d]) == 0 || constantOf(r.to[first + d]) == 0)
      return (void)ctx.refuse("the resampled dimensions must not be empty");
    r.axes.push_back(makeAxis(ctx, r.compute, r.from[first + d], r.to[first + d],
                              ctx.flag("align_corners"), factors[d]));
  }
}

//===----------------------------------------------------------------------===//
// Forward and backward
//===----------------------------------------------------------------------===//

template <Mode mode, int spatial>
LogicalResult lowerResample(Lowering &ctx) {
  Tensor input = ctx.tensor(ctx.has("input") ? "input" : "self");
  SmallVector<std::optional<double>> factors = readFactors(ctx, spatial);
  if (ctx.hasRefused() || !ctx.needsRank(input, spatial + 2, "the input"))
    return failure();
  bool isWeighted = tapsOf(mode) > 1;
  if (isWeighted && !isFloat(input.dtype))
    return ctx.refuse("only floating-point tensors can be interpolated");
  Resampling r;
  r.compute = coordinateDType(input.dtype);
  r.from = ctx.sizesOf(input);
  r.to = resampledSizes(ctx, input, factors);
  if (ctx.hasRefused())
    return failure();
  addAxes(ctx, r, spatial, factors);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(gather(ctx, r.to, input.dtype, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, r.compute);
    SmallVector<Value> position;
    SmallVector<Taps> taps;
    for (int64_t d = 0; d < input.rank(); ++d)
      position.push_back(body.position(d));
    for (int d = 0; d < spatial; ++d)
      taps.push_back(tapsAt(e, mode, r.axes[d], position[2 + d]));
    if (!isWeighted) { // moved, not computed: integers keep all their bits
      for (int d = 0; d < spatial; ++d)
        position[2 + d] = taps[d][0].index;
      return body.read(input, position);
    }
    return Element(body.b, body.loc, input.dtype)
        .cast(sumOfTaps(e, input, position, taps), r.compute);
  }));
}

/// Of the taps, the one whose number is `k`.
Tap chosenTap(const Element &e, ArrayRef<Tap> taps, Value k) {
  Tap chosen = taps.front();
  BodyIndex i{e.b, e.loc};
  for (auto [n, tap] : llvm::enumerate(taps)) {
    if (n == 0)
      continue;
    Value isThis =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, k, i.constant(int64_t(n)));
    chosen.index = e.select(isThis, tap.index, chosen.index);
    chosen.weight = e.select(isThis, tap.weight, chosen.weight);
  }
  return chosen;
}

/// Adds each element of `gradient` to the taps it was computed from.
Tensor addToTaps(Lowering &ctx, Mode mode, const Tensor &gradient, const Resampling &r) {
  MLIRContext *context = ctx.b.getContext();
  int64_t rank = gradient.rank(), spatial = r.axes.size(), outer = rank - spatial;
  int64_t loops = rank + spatial;
  SmallVector<int64_t> window(spatial, tapsOf(mode));
  Value taps = tensor::EmptyOp::create(ctx.b, ctx.loc, window, ctx.b.getI1Type());
  Tensor zeros = ctx.filled(r.from, r.compute, Scalar::ofInt(context, 0));
  auto scatter = graph::ScatterOp::create(
      ctx.b, ctx.loc, zeros.type(), ValueRange{gradient.value, taps}, zeros.value,
      ctx.b.getAffineMapArrayAttr({leadingLoops(context, loops, rank),
                                   AffineMap::getMinorIdentityMap(loops, spatial, context)}),
      graph::Combine::Add, false);
  OpBuilder::InsertionGuard guard(ctx.b);
  Block *block = ctx.b.createBlock(
      &scatter.getBody(), {}, {ctx.type(gradient.dtype), ctx.b.getI1Type()}, {ctx.loc, ctx.loc});
  Element e(ctx.b, ctx.loc, r.compute);
  auto loop = [&](int64_t d) -> Value {
    return graph::IndexOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), d);
  };
  SmallVector<Value> yielded;
  for (int64_t d = 0; d < outer; ++d)
    yielded.push_back(loop(d));
  Value share = e.cast(block->getArgument(0), gradient.dtype);
  for (int64_t d = 0; d < spatial; ++d) {
    Tap tap = chosenTap(e, tapsAt(e, mode, r.axes[d], loop(outer + d)), loop(rank + d));
    yielded.push_back(tap.index);
    if (tap.weight)
      share = e.mul(share, tap.weight);
  }
  yielded.push_back(share);
  graph::YieldOp::create(ctx.b, ctx.loc, yielded);
  return {scatter.getResult(), r.compute};
}

template <Mode mode, int spatial>
LogicalResult lowerResampleBackward(Lowering &ctx) {
  Tensor gradient = ctx.tensor("grad_output");
  SmallVector<std::optional<double>> factors = readFactors(ctx, spatial);
  Resampling r;
  r.from = ctx.sizes("input_size");
  if (ctx.hasRefused() || !ctx.needsRank(gradient, spatial + 2, "the gradient"))
    return failure();
  if (int64_t(r.from.size()) != gradient.rank())
    return ctx.refuse("input_size must have " + counted(gradient.rank(), "element"));
  r.compute = coordinateDType(gradient.dtype);
  r.to = ctx.sizesOf(gradient);
  for (int d : {0, 1})
    ctx.requireEqual(r.from[d], r.to[d]);
  r.from = ctx.refined(r.from);
  addAxes(ctx, r, spatial, factors);
  if (ctx.hasRefused())
    return failure();
  return ctx.done(castTo(ctx, addToTaps(ctx, mode, gradient, r), gradient.dtype));
}

} // namespace

#define TW_RESAMPLE(name, mode, spatial)                                                           \
  {"torch.aten." name, lowerResample<Mode::mode, spatial>},                                        \
      {"torch.aten." name ".vec", lowerResample<Mode::mode, spatial>}, {                           \
    "torch.aten." name "_backward", lowerResampleBackward<Mode::mode, spatial>                     \
  }

Family resamplingFamily() {
  static constexpr LoweringRow rows[] = {
      TW_RESAMPLE("upsample_nearest1d", Nearest, 1),
      TW_RESAMPLE("upsample_nearest2d", Nearest, 2),
      TW_RESAMPLE("upsample_nearest3d", Nearest, 3),
      TW_RESAMPLE("_upsample_nearest_exact1d", NearestExact, 1),
      TW_RESAMPLE("_upsample_nearest_exact2d", NearestExact, 2),
      TW_RESAMPLE("_upsample_nearest_exact3d", NearestExact, 3),
      TW_RESAMPLE("upsample_linear1d", Linear, 1),
      TW_RESAMPLE("upsample_bilinear2d", Linear, 2),
      TW_RESAMPLE("upsample_trilinear3d", Linear, 3),
      TW_RESAMPLE("upsample_bicubic2d", Cubic, 2),
  };
  return {"Resampling", rows};
}
#undef TW_RESAMPLE

} // namespace tw::lower
