// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and its relatives: a maximum, a sum and elementwise ops over the same rows, all in
// opmath.
#include "TorchToGraph/Builders/Reduce.h"
#include "TorchToGraph/Families.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

/// The rows of the first argument along "dim".
static ReduceSpace rowsOf(Lowering &ctx, const Tensor &tensor) {
  ReduceSpace space{tensor, {}, true};
  int64_t dim = ctx.dim("dim", tensor.rank());
  if (tensor.rank() > 0)
    space.dims.push_back(dim);
  return space;
}

/// exp(x - m), where m is the row's maximum.
static Tensor exponentials(Lowering &ctx, const Tensor &x, const Tensor &maximum, DType dtype) {
  return pointwise(ctx, {x, maximum}, dtype,
                   [](Element &e, ValueRange v) { return e.exp(e.sub(v[0], v[1])); });
}

template <bool safe>
static LogicalResult lowerSoftmax(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  DType result = ctx.resultDType(), dtype = opmath(result);
  Tensor maximum = reduceMax(ctx, rowsOf(ctx, self));
  Tensor exps = exponentials(ctx, self, maximum, dtype);
  Tensor sum = reduceSum(ctx, rowsOf(ctx, exps), dtype);
  if (!safe)
    return ctx.done(pointwise(ctx, {exps, sum}, result,
                              [](Element &e, ValueRange x) { return e.div(x[0], x[1]); }));
  // A row of nothing but -inf gives zeros.
  return ctx.done(pointwise(ctx, {exps, sum, maximum}, result, [](Element &e, ValueRange x) {
    Value isEmpty = e.eq(x[2], e.constant(-INFINITY));
    return e.select(isEmpty, e.constant(0), e.div(x[0], x[1]));
  }));
}

static LogicalResult lowerLogSoftmax(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  DType result = ctx.resultDType(), dtype = opmath(result);
  Tensor maximum = reduceMax(ctx, rowsOf(ctx, self));
  Tensor sum = reduce(
      ctx, rowsOf(ctx, self), dtype, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], e.exp(e.sub(x[1], x[2]))); }, maximum);
  return ctx.done(pointwise(ctx, {self, maximum, sum}, result, [](Element &e, ValueRange x) {
    return e.sub(e.sub(x[0], x[1]), e.log(x[2]));
  }));
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
