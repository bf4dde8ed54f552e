// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fake quantization, as training for quantized inference does it: values are rounded to the grid
// (q - zero_point) * scale, for the integers q from quant_min to quant_max, and stay floats. The
// second result says where the gradient passes: where q was in that range before it was clamped.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw::lower {

namespace {

/// The range of q, and how q is rounded.
struct Grid {
  int64_t low, high;
  bool isZeroPointRounded; // with the value: a zero point that is a float is part of the sum
};

} // namespace

/// One value and whether it was in range. PyTorch gives a NaN the lowest q; beyond 2^63 its kernels
/// for channels leave the result to the machine's conversion to i64, and here it is clamped.
static SmallVector<Value> quantized(Element &e, Value x, Value scale, Value inverse,
                                    Value zeroPoint, const Grid &grid) {
  auto round = [&](Value value) -> Value { return math::RoundEvenOp::create(e.b, e.loc, value); };
  Value steps = e.mul(x, inverse);
  Value q =
      grid.isZeroPointRounded ? round(e.add(zeroPoint, steps)) : e.add(zeroPoint, round(steps));
  Value low = e.constant(grid.low), high = e.constant(grid.high);
  Value clamped = e.select(e.isNan(q), low, e.min(e.max(q, low), high));
  Value isInside = e.conjunction(e.ge(q, low), e.le(q, high));
  return {e.mul(e.sub(clamped, zeroPoint), scale), isInside};
}

/// `isEnabled`: a tensor of one element; where it is 0, values pass as they are.
static LogicalResult quantize(Lowering &ctx, const Tensor &self, const Tensor &scale,
                              const Tensor &zeroPoint, std::optional<Tensor> isEnabled = {}) {
  Grid grid{ctx.integer("quant_min"), ctx.integer("quant_max"), isFloat(zeroPoint.dtype)};
  SmallVector<Tensor> inputs{self, scale, zeroPoint};
  if (isEnabled)
    inputs.push_back(*isEnabled);
  auto results = pointwiseMany(
      ctx, inputs, {self.dtype, DType::Bool}, [&](OpBuilder &b, Location loc, ValueRange x) {
        Element e(b, loc, opmath(self.dtype));
        Element single = e.as(DType::F32); // in which PyTorch divides, whatever is quantized
        Value value = e.cast(x[0], self.dtype), step = single.cast(x[1], scale.dtype);
        auto made = quantized(e, value, e.cast(step, DType::F32),
                              e.cast(single.reciprocal(step), DType::F32),
                              e.cast(x[2], zeroPoint.dtype), grid);
        if (isEnabled) {
          Element truth = e.as(DType::Bool);
          Value on = truth.cast(x[3], isEnabled->dtype);
          made = {e.select(on, made[0], value), truth.select(on, made[1], truth.constant(1))};
        }
        made[0] = e.as(self.dtype).cast(made[0], e.dtype);
        return made;
      });
  if (ctx.op->getNumResults() == 1)
    return ctx.done(results[0]);
  return ctx.done({results[0], results[1]});
}

/// A number of the operator's as a tensor without dimensions.
static Tensor constantTensor(Lowering &ctx, StringRef name, DType dtype) {
  return ctx.filled({}, dtype, ctx.scalar(name));
}

static LogicalResult lowerPerTensor(Lowering &ctx) {
  return quantize(ctx, ctx.tensor("self"), constantTensor(ctx, "scale", DType::F32),
                  constantTensor(ctx, "zero_point", DType::I64));
}

/// The only element of a tensor of any rank, as a tensor without dimensions.
static Tensor onlyElement(Lowering &ctx, StringRef name) {
  return reshape(ctx, ctx.tensor(name), {});
}

static LogicalResult lowerTensorParameters(Lowering &ctx) {
  std::optional<Tensor> isEnabled;
  if (ctx.has("fake_quant_enabled"))
    isEnabled = onlyElement(ctx, "fake_quant_enabled");
  return quantize(ctx, ctx.tensor("self"), onlyElement(ctx, "scale"),
                  onlyElement(ctx, "zero_point"), isEnabled);
}

/// A scale and a zero point for each index along `axis`.
static LogicalResult lowerPerChannel(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t axis = ctx.dim("axis", self.rank());
  auto alongAxis = [&](StringRef name) {
    Tensor each = ctx.tensor(name);
    if (!ctx.needsRank(each, 1, name) || self.rank() == 0)
      return each;
    ctx.requireEqual(ctx.sizeOf(each, 0), ctx.sizeOf(self, axis));
    SmallVector<OpFoldResult> sizes(self.rank() - axis, ctx.b.getIndexAttr(1));
    sizes[0] = ctx.sizeOf(each, 0);
    return reshape(ctx, each, sizes);
  };
  if (self.rank() == 0)
    return ctx.refuse("the tensor has no dimension of channels");
  return quantize(ctx, self, alongAxis("scale"), alongAxis("zero_point"));
}

static LogicalResult lowerGradient(Lowering &ctx) {
  return ctx.done(pointwise(ctx, {ctx.arg("grad"), ctx.arg("mask")}, ctx.resultDType(),
                            [](Element &e, ValueRange x) { return e.mul(x[0], x[1]); }));
}

Family fakeQuantizeFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.fake_quantize_per_tensor_affine", lowerPerTensor},
      {"torch.aten.fake_quantize_per_tensor_affine.tensor_qparams", lowerTensorParameters},
      {"torch.aten.fake_quantize_per_tensor_affine_cachemask", lowerPerTensor},
      {"torch.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
       lowerTensorParameters},
      {"torch.aten.fake_quantize_per_tensor_affine_cachemask_backward", lowerGradient},
      {"torch.aten.fake_quantize_per_channel_affine", lowerPerChannel},
      {"torch.aten.fake_quantize_per_channel_affine_cachemask", lowerPerChannel},
      {"torch.aten.fake_quantize_per_channel_affine_cachemask_backward", lowerGradient},
  };
  return {"Fake quantization", rows};
}

} // namespace tw::lower
