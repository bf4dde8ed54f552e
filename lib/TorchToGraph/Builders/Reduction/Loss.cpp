// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Reduction/Loss.h"
#include "TorchToGraph/Builders/Elementwise/Scalars.h"

using namespace mlir;

namespace tw::lower {

Reduction reductionOf(Lowering &ctx) {
  int64_t number = ctx.integer("reduction", 1);
  if (number < 0 || number > 2) {
    ctx.refuse("reduction must be 0 (none), 1 (mean) or 2 (sum), not " + Twine(number));
    return Reduction::None;
  }
  return Reduction(number);
}

Tensor reduceLoss(Lowering &ctx, const Tensor &losses) {
  Reduction reduction = reductionOf(ctx);
  ReduceSpace all{losses, allDims(losses), false};
  Tensor result = reduction == Reduction::None  ? losses
                  : reduction == Reduction::Sum ? reduceSum(ctx, all, losses.dtype)
                                                : reduceMean(ctx, all);
  return castTo(ctx, result, ctx.resultDType());
}

Scalar gradientScale(Lowering &ctx, const Tensor &input) {
  Scalar one = Scalar::ofFloat(ctx.b.getContext(), 1);
  if (reductionOf(ctx) != Reduction::Mean)
    return one;
  Scalar count{Scalar::Kind::Int, reducedCount(ctx, {input, allDims(input), false})};
  return combine(ctx, ScalarOp::Div, one, count);
}

} // namespace tw::lower
