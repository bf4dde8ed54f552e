// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and log-softmax over rows, in opmath: a maximum, a sum and elementwise ops.
#pragma once
#include "TorchToGraph/Builders/Reduction/Reduce.h"

namespace tw::lower {

/// What a softmax over `space` (kept dimensions) consists of.
struct SoftmaxParts {
  Tensor maximum; // of each row, in the input's dtype
  Tensor exps;    // exp(x - maximum)
  Tensor sum;     // of exps over the row
};
SoftmaxParts softmaxParts(Lowering &ctx, const Tensor &x, llvm::ArrayRef<int64_t> dims);

/// exps / sum, rounded to `result`. When `safe`, a row of nothing but -inf gives zeros, not NaN.
Tensor softmaxOf(Lowering &ctx, const SoftmaxParts &parts, DType result, bool safe);

/// x - maximum - log(sum of exp(x - maximum)), rounded to `result`.
Tensor logSoftmax(Lowering &ctx, const Tensor &x, llvm::ArrayRef<int64_t> dims, DType result);

} // namespace tw::lower
