// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Reduction/Norm.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

/// The new accumulator after one more |x|.
static Value accumulate(Element &e, Value sum, Value size, double p) {
  if (p == INFINITY)
    return e.max(sum, size);
  if (p == -INFINITY)
    return e.min(sum, size);
  if (p == 0)
    return e.add(sum, e.select(e.isNonZero(size), e.constant(1), e.constant(0)));
  if (p == 1)
    return e.add(sum, size);
  return e.add(sum, p == 2 ? e.mul(size, size) : e.pow(size, e.constant(p)));
}

Tensor pNorm(Lowering &ctx, const ReduceSpace &space, double p, std::optional<Tensor> other,
             double shift) {
  DType dtype = opmath(floatOf(space.input.dtype));
  SmallVector<Tensor> others;
  if (other)
    others.push_back(*other);
  Tensor sum = reduce(
      ctx, space, dtype, [&](Element &e) { return p == -INFINITY ? e.highest() : e.constant(0); },
      [&](Element &e, ValueRange x) {
        Value value = other ? e.sub(x[1], x[2]) : x[1];
        if (shift != 0)
          value = e.add(value, e.constant(shift));
        return accumulate(e, x[0], e.abs(value), p);
      },
      others);
  if (std::isinf(p) || p == 0 || p == 1)
    return sum;
  return pointwise(ctx, sum, dtype, [&](Element &e, ValueRange x) {
    return p == 2 ? e.sqrt(x[0]) : e.pow(x[0], e.constant(1 / p));
  });
}

} // namespace tw::lower
