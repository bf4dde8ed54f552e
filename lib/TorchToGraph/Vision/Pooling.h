// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "TorchToGraph/Vision/Window.h"

namespace tw::lower {

/// Values and flat positions of the greatest elements. As PyTorch: the first of equal ones, a NaN
/// beats everything. Values do not follow from positions, so that these can go where nobody reads
/// them.
std::pair<Tensor, Tensor> maxOverWindows(Lowering &ctx, const Tensor &input,
                                         const Windows &windows);

/// Answers with zeros like the argument self, to which each of grad_output is added at the place
/// that indices names (flat in the `spatial` last dimensions).
mlir::LogicalResult scatterToMaxima(Lowering &ctx, int64_t spatial);

} // namespace tw::lower
