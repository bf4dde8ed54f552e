// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the losses have in common: the argument "reduction".
#pragma once
#include "TorchToGraph/Builders/Reduction/Reduce.h"

namespace tw::lower {

/// The numbers that PyTorch passes as "reduction".
enum class Reduction { None = 0, Mean = 1, Sum = 2 };
/// The argument "reduction" (mean when absent); other numbers are refused.
Reduction reductionOf(Lowering &ctx);

/// Every element's loss, in opmath, reduced as "reduction" says and rounded to the result.
Tensor reduceLoss(Lowering &ctx, const Tensor &losses);

/// The factor of each element's gradient: 1, or 1 / count when "reduction" is the mean.
Scalar gradientScale(Lowering &ctx, const Tensor &input);

} // namespace tw::lower
