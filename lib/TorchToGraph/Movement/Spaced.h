// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// `steps` equally spaced values of `dtype` between two numbers or tensors of one element, exact at
/// both ends; `base` makes powers of it.
Tensor spaced(Lowering &ctx, const Operand &first, const Operand &last, int64_t steps, DType dtype,
              std::optional<double> base = std::nullopt);

} // namespace tw::lower
