// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and its relatives: a maximum, a sum and elementwise ops over the same rows, all in
// opmath.
#include "TorchToGraph/Builders/Reduction/Softmax.h"
#include "TorchToGraph/Families.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

/// The dimension "dim" of a tensor; none of a scalar.
static SmallVector<int64_t> rowDims(Lowering &ctx, const Tensor &tensor) {
  int64_t dim = ctx.dim("dim", tensor.rank());
  return tensor.rank() > 0 ? SmallVector<int64_t>{dim} : SmallVector<int64_t>();
}

static ReduceSpace rowsOf(Lowering &ctx, const Tensor &tensor) {
  return {tensor, rowDims(ctx, tensor), true};
}

/// The input in the dtype that the argument "dtype" asks for; f16 to f32 needs no cast, as opmath
/// is f32 anyway.
static Tensor inputOf(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  DType result = ctx.resultDType();
  bool widens = isFloat(self.dtype) && opmath(self.dtype) == opmath(result);
  return widens ? self : castTo(ctx, self, result);
}

template <bool safe>
static LogicalResult lowerSoftmax(Lowering &ctx) {
  Tensor self = inputOf(ctx);
  SoftmaxParts parts = softmaxParts(ctx, self, rowDims(ctx, self));
  return ctx.done(softmaxOf(ctx, parts, ctx.resultDType(), safe));
}

static LogicalResult lowerLogSoftmax(Lowering &ctx) {
  Tensor self = inputOf(ctx);
  return ctx.done(logSoftmax(ctx, self, rowDims(ctx, self), ctx.resultDType()));
}

/// output * (grad - sum(grad * output)).
static LogicalResult lowerSoftmaxBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad_output"), output = ctx.tensor("output");
  DType dtype = opmath(grad.dtype);
  Tensor sum = reduce(
      ctx, rowsOf(ctx, grad), dtype, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], e.mul(x[1], x[2])); }, output);
  return ctx.done(
      pointwise(ctx, {grad, output, sum}, ctx.resultDType(),
                [](Element &e, ValueRange x) { return e.mul(e.sub(x[0], x[2]), x[1]); }));
}

/// grad - exp(output) * sum(grad).
static LogicalResult lowerLogSoftmaxBackward(Lowering &ctx) {
  Tensor grad = ctx.tensor("grad_output"), output = ctx.tensor("output");
  Tensor sum = reduceSum(ctx, rowsOf(ctx, grad), opmath(grad.dtype));
  return ctx.done(
      pointwise(ctx, {grad, output, sum}, ctx.resultDType(),
                [](Element &e, ValueRange x) { return e.sub(x[0], e.mul(e.exp(x[1]), x[2])); }));
}

/// Rows whose maximum is infinite are not shifted.
static LogicalResult lowerLogSumExp(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  DType result = ctx.resultDType(), dtype = opmath(result);
  ReduceSpace space{self, ctx.dims("dim", self.rank()), true};
  Tensor shift = pointwise(ctx, reduceMax(ctx, space), dtype, [](Element &e, ValueRange x) {
    return e.select(e.eq(e.abs(x[0]), e.constant(INFINITY)), e.constant(0), x[0]);
  });
  Tensor sum = reduce(
      ctx, space, dtype, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], e.exp(e.sub(x[1], x[2]))); }, shift);
  Tensor kept = pointwise(ctx, {sum, shift}, result,
                          [](Element &e, ValueRange x) { return e.add(e.log(x[0]), x[1]); });
  return ctx.done(ctx.flag("keepdim") ? kept : dropUnitDims(ctx, kept, space.dims));
}

Family softmaxFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.softmax.int", lowerSoftmax<false>},
      {"torch.aten.special_softmax", lowerSoftmax<false>},
      {"torch.aten._softmax", lowerSoftmax<false>},
      {"torch.aten._safe_softmax", lowerSoftmax<true>},
      {"torch.aten.log_softmax.int", lowerLogSoftmax},
      {"torch.aten.special_log_softmax", lowerLogSoftmax},
      {"torch.aten._log_softmax", lowerLogSoftmax},
      {"torch.aten._softmax_backward_data", lowerSoftmaxBackward},
      {"torch.aten._log_softmax_backward_data", lowerLogSoftmaxBackward},
      {"torch.aten.logsumexp", lowerLogSumExp},
      {"torch.aten.special_logsumexp", lowerLogSumExp},
  };
  return {"Softmax", rows};
}

} // namespace tw::lower
