// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradients of sampling at the positions of a grid: the input's is scattered to the taps of all
// samples, the grid's sums what each sample changes by its coordinates over the channels.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "TorchToGraph/Vision/GridSample.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::lower {

/// The tap at `k` (index).
static Tap chosen(const Element &e, const Taps &taps, Value k) {
  Tap tap = taps.front();
  for (size_t i = 1; i < taps.size(); ++i) {
    Value number = arith::ConstantIndexOp::create(e.b, e.loc, i);
    Value isThis = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, k, number);
    auto pick = [&](Value x, Value y) -> Value {
      return arith::SelectOp::create(e.b, e.loc, isThis, x, y);
    };
    tap = {pick(taps[i].index, tap.index), pick(taps[i].weight, tap.weight),
           pick(taps[i].inside, tap.inside)};
  }
  return tap;
}

/// One update for each tap of each sample: [n, c, out..., taps...].
static Tensor gradientOfInput(Lowering &ctx, const GridSampling &s, const Tensor &grad) {
  const Tensor &input = s.input;
  int64_t rank = input.rank(), spatial = s.spatial();
  DType compute = opmath(input.dtype);
  SmallVector<OpFoldResult> taps(spatial, ctx.b.getIndexAttr(s.tapCount()));
  SmallVector<OpFoldResult> space = ctx.sizesOf(grad);
  llvm::append_range(space, taps);
  // Nothing else has the sizes of the taps.
  SmallVector<PlacedInput> inputs = {{grad, 0}, {zeros(ctx, taps, DType::Bool), rank}};
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, compute);
    SmallVector<Value> place = positions(body, rank), to = {place[0], place[1]};
    place.erase(place.begin() + 1);
    Value value = e.cast(x[0], grad.dtype);
    for (int64_t d = 0; d < spatial; ++d) {
      Value coordinate = coordinateAt(body, e, s, place, d);
      Tap tap = chosen(e, tapsAt(e, s, coordinate, d), body.position(rank + d));
      to.push_back(tap.index);
      if (tap.weight)
        value = e.mul(value, tap.weight);
      value = e.select(tap.inside, value, e.constant(0));
    }
    return Update{to, value};
  };
  return scatterWide(ctx, zeros(ctx, ctx.sizesOf(input), input.dtype), graph::Combine::Add, space,
                     inputs, body);
}

/// How the samples change by their coordinate in spatial dimension `dim`: [n, out...].
static Tensor gradientOfCoordinate(Lowering &ctx, const GridSampling &s, const Tensor &grad,
                                   int64_t dim) {
  DType compute = opmath(s.input.dtype);
  SmallVector<OpFoldResult> sizes = ctx.sizesOf(grad);
  Value channels = IndexMath{ctx.b, ctx.loc}.value(sizes[1]);
  sizes.erase(sizes.begin() + 1);
  return gather(ctx, sizes, compute, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, compute);
    SmallVector<Value> place = positions(body, 1 + s.spatial());
    SmallVector<Taps> taps;
    for (int64_t d = 0; d < s.spatial(); ++d) {
      Value coordinate = coordinateAt(body, e, s, place, d);
      taps.push_back(d == dim ? slopesAt(e, s, coordinate, d) : tapsAt(e, s, coordinate, d));
    }
    auto loop = scf::ForOp::create(body.b, body.loc, body.constant(0), channels, body.constant(1),
                                   e.constant(0),
                                   [&](OpBuilder &b, Location loc, Value channel, ValueRange sum) {
                                     SmallVector<Value> at(place);
                                     at.insert(at.begin() + 1, channel);
                                     Value change = e.mul(e.cast(body.read(grad, at), grad.dtype),
                                                          sumOfTaps(e, s.input, at, taps));
                                     scf::YieldOp::create(b, loc, e.add(sum[0], change));
                                   });
    return loop.getResult(0);
  });
}

static Tensor gradientOfGrid(Lowering &ctx, const GridSampling &s, const Tensor &grad) {
  if (s.interpolation == Interpolation::Nearest)
    return zeros(ctx, ctx.sizesOf(s.grid), s.grid.dtype);
  SmallVector<Tensor> coordinates; // the last dimension's first
  for (int64_t d = s.spatial() - 1; d >= 0; --d)
    coordinates.push_back(unsqueeze(ctx, gradientOfCoordinate(ctx, s, grad, d), 1 + s.spatial()));
  return castTo(ctx, concat(ctx, coordinates, 1 + s.spatial()), s.grid.dtype);
}

static LogicalResult lowerGridSamplerBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad_output");
  SmallVector<int64_t> mask = ctx.integers("output_mask");
  std::optional<GridSampling> sampling = readGridSampling(ctx);
  if (!sampling || !ctx.needsRank(grad, sampling->input.rank(), "the gradient"))
    return failure();
  if (mask.size() != 2)
    return ctx.refuse("output_mask must have 2 values, not " + Twine(mask.size()));
  SmallVector<OpFoldResult> samples(ArrayRef(ctx.sizesOf(sampling->input)).take_front(2));
  llvm::append_range(samples, sampling->outputSizes);
  for (auto [have, want] : llvm::zip_equal(ctx.sizesOf(grad), samples))
    ctx.requireEqual(have, want);
  if (ctx.hasRefused())
    return failure();
  SmallVector<Operand> results(2);
  if (mask[0])
    results[0] = gradientOfInput(ctx, *sampling, grad);
  if (mask[1])
    results[1] = gradientOfGrid(ctx, *sampling, grad);
  return ctx.done(results);
}

Family gridSampleGradientsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.grid_sampler_2d_backward", lowerGridSamplerBackward},
      {"torch.aten.grid_sampler_3d_backward", lowerGridSamplerBackward},
  };
  return {"Gradients of grid sampling", rows};
}

} // namespace tw::lower
