// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fractional max pooling: windows of one size whose distances vary around a fraction, shifted for
// each image by random numbers, which are an argument.
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Vision/Pooling.h"
#include "TorchToGraph/Vision/Taps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::lower {

/// Where the windows of dimension `d` begin: i64 [images..., output size]. Window i begins at
/// floor((i + shift) a) - floor(shift a), the last one ends with the input. `samples` [n, c,
/// spatial] holds the shifts; the arithmetic is that of its dtype, as in PyTorch.
static Tensor startsOf(Lowering &ctx, const Windows &w, const Tensor &samples, int64_t images,
                       int64_t d) {
  IndexMath m{ctx.b, ctx.loc};
  Element outside(ctx.b, ctx.loc, opmath(samples.dtype));
  auto rounded = [&](const Element &e, Value x) {
    return e.cast(e.as(samples.dtype).cast(x, e.dtype), samples.dtype);
  };
  OpFoldResult last = m.sub(w.inputSizes[d], m.constant(w.kernel[d])), count = w.outputSizes[d];
  OpFoldResult steps = m.max(m.sub(count, m.constant(1)), m.constant(1));
  auto number = [&](OpFoldResult size) {
    Value x = BodyIndex{ctx.b, ctx.loc}.toFloat(outside, m.value(size));
    return rounded(outside, x);
  };
  Value fraction = rounded(outside, outside.div(number(last), number(steps)));
  Value lastStart = m.value(last), lastWindow = m.value(m.sub(count, m.constant(1)));
  // Of two dimensions PyTorch takes the last one's shift first.
  int64_t place = w.spatial == 2 ? w.spatial - 1 - d : d;
  SmallVector<OpFoldResult> sizes(ArrayRef(ctx.sizesOf(samples)).slice(2 - images, images));
  sizes.push_back(count);
  return gather(ctx, sizes, DType::I64, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, outside.dtype);
    BodyIndex i{body.b, body.loc};
    SmallVector<Value> at;
    for (int64_t k = 0; k < 2; ++k)
      at.push_back(k < 2 - images ? i.constant(0) : body.position(k - (2 - images)));
    at.push_back(i.constant(place));
    Value shift = e.cast(body.read(samples, at), samples.dtype), window = body.position(images);
    auto wholeAt = [&](Value x) { return i.fromFloat(e, rounded(e, e.mul(x, fraction))); };
    Value shifted = rounded(e, e.add(rounded(e, i.toFloat(e, window)), shift));
    Value start = i.sub(wholeAt(shifted), wholeAt(shift));
    start = i.max(i.min(start, lastStart), i.constant(0));
    Value isLast =
        arith::CmpIOp::create(body.b, body.loc, arith::CmpIPredicate::eq, window, lastWindow);
    start = arith::SelectOp::create(body.b, body.loc, isLast, lastStart, start);
    return arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), start).getResult();
  });
}

template <int spatial>
static LogicalResult lowerFractionalMaxPool(Lowering &ctx) {
  Tensor input = ctx.tensor("self"), samples = ctx.tensor("random_samples");
  Windows w;
  w.spatial = spatial;
  w.kernel = ctx.perDimension("kernel_size", spatial, 1);
  w.dilation.assign(spatial, 1);
  w.outputSizes = ctx.sizes("output_size");
  int64_t images = input.rank() - spatial;
  if (ctx.hasRefused() || !ctx.needsRank(samples, 3, "random_samples"))
    return failure();
  if (images != 1 && images != 2)
    return ctx.refuse("the input must have " + Twine(spatial + 1) + " or " +
                      counted(spatial + 2, "dimension") + ", and has " + Twine(input.rank()));
  if (w.outputSizes.size() == 1)
    w.outputSizes.append(spatial - 1, w.outputSizes.front());
  if (w.outputSizes.size() != spatial || !isFloat(samples.dtype))
    return ctx.refuse("output_size must have " + counted(spatial, "value") +
                      ", and random_samples be floating-point");
  requireSizes(ctx, w.outputSizes);
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(input), shifts = ctx.sizesOf(samples);
  w.inputSizes.assign(sizes.end() - spatial, sizes.end());
  for (int64_t d = 0; d < images; ++d)
    ctx.requireEqual(shifts[2 - images + d], sizes[d]);
  ctx.requireEqual(shifts[2], ctx.b.getIndexAttr(spatial));
  if (images == 1)
    ctx.requireEqual(shifts[0], ctx.b.getIndexAttr(1));
  IndexMath m{ctx.b, ctx.loc};
  for (int64_t d = 0; d < spatial && !ctx.hasRefused(); ++d) {
    requireAtMost(ctx, m.add(w.outputSizes[d], m.constant(w.kernel[d] - 1)), w.inputSizes[d],
                  "windows reach over %lld elements of a dimension of size %lld");
    w.starts.push_back(startsOf(ctx, w, samples, images, d));
  }
  if (ctx.hasRefused())
    return failure();
  auto [values, positions] = maxOverWindows(ctx, input, w);
  return ctx.done({values, positions});
}

template <int spatial>
static LogicalResult lowerFractionalMaxPoolBackward(Lowering &ctx) {
  return scatterToMaxima(ctx, spatial);
}

Family fractionalPoolingFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.fractional_max_pool2d", lowerFractionalMaxPool<2>},
      {"torch.aten.fractional_max_pool2d_backward", lowerFractionalMaxPoolBackward<2>},
      {"torch.aten.fractional_max_pool3d", lowerFractionalMaxPool<3>},
      {"torch.aten.fractional_max_pool3d_backward", lowerFractionalMaxPoolBackward<3>},
  };
  return {"Fractional max pooling", rows};
}

} // namespace tw::lower
