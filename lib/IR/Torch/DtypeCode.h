// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ints that stand for dtypes in operator arguments, such as 6 for torch.float32.
#pragma once
#include "Support/DType.h"
#include "mlir/IR/Types.h"
#include <optional>
#include <string>

namespace tw::torch {

/// PyTorch's number of a dtype of the torch dialect (si64 is 4); empty when it has none.
std::optional<int64_t> dtypeCode(mlir::Type dtype);

/// The dtype of a number; null when the torch dialect has none.
mlir::Type dtypeOfCode(mlir::MLIRContext *context, int64_t code);

/// Ours of a number; empty when Tilewright has none.
std::optional<DType> plainDtypeOfCode(int64_t code);

/// "int64", "complex64"; of one nobody knows "dtype number 99".
std::string nameOfCode(int64_t code);

/// A dtype of ours as the torch dialect spells it: si64, ui8, i1, f32, bf16, ...
mlir::Type torchType(mlir::MLIRContext *context, DType dtype);

} // namespace tw::torch
