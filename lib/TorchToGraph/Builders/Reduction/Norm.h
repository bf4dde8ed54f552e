// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// p-norms and distances.
#pragma once
#include "TorchToGraph/Builders/Reduction/Reduce.h"

namespace tw::lower {

/// (sum |x|^p)^(1/p) in opmath, with the limits at p = 0 and +-inf. With `other`, which broadcasts
/// against the input, x is their difference plus `shift`.
Tensor pNorm(Lowering &ctx, const ReduceSpace &space, double p,
             std::optional<Tensor> other = std::nullopt, double shift = 0);

} // namespace tw::lower
