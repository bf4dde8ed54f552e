// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Reduction/Softmax.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

static ReduceSpace rows(const Tensor &x, ArrayRef<int64_t> dims) {
  return {x, SmallVector<int64_t>(dims), true};
}

SoftmaxParts softmaxParts(Lowering &ctx, const Tensor &x, ArrayRef<int64_t> dims) {
  DType dtype = opmath(floatOf(x.dtype));
  Tensor maximum = reduceMax(ctx, rows(x, dims));
  Tensor exps = pointwise(ctx, {x, maximum}, dtype,
                          [](Element &e, ValueRange v) { return e.exp(e.sub(v[0], v[1])); });
  return {maximum, exps, reduceSum(ctx, rows(exps, dims), dtype)};
}

Tensor softmaxOf(Lowering &ctx, const SoftmaxParts &parts, DType result, bool safe) {
  if (!safe)
    return pointwise(ctx, {parts.exps, parts.sum}, result,
                     [](Element &e, ValueRange x) { return e.div(x[0], x[1]); });
  return pointwise(ctx, {parts.exps, parts.sum, parts.maximum}, result,
                   [](Element &e, ValueRange x) {
                     Value isEmpty = e.eq(x[2], e.constant(-INFINITY));
                     return e.select(isEmpty, e.constant(0), e.div(x[0], x[1]));
                   });
}

Tensor logSoftmax(Lowering &ctx, const Tensor &x, ArrayRef<int64_t> dims, DType result) {
  Tensor maximum = reduceMax(ctx, rows(x, dims));
  Tensor sum = reduce(
      ctx, rows(x, dims), opmath(floatOf(x.dtype)), [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange v) { return e.add(v[0], e.exp(e.sub(v[1], v[2]))); }, maximum);
  return pointwise(ctx, {x, maximum, sum}, result,
                   [](Element &e, ValueRange v) { return e.sub(e.sub(v[0], v[1]), e.log(v[2])); });
}

} // namespace tw::lower
