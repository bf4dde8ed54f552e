// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ints that stand for dtypes in operator arguments, such as 6 for torch.float32.
#pragma once
#include "mlir/IR/Types.h"
#include <optional>

namespace tw::torch {

/// PyTorch's number of a dtype of the torch dialect (si64 is 4); empty when it has none.
std::optional<int64_t> dtypeCode(mlir::Type dtype);

/// The dtype of a number; null when there is none.
mlir::Type dtypeOfCode(mlir::MLIRContext *context, int64_t code);

} // namespace tw::torch
