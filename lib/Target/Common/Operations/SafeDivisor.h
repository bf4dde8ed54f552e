// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/Builders.h"

namespace tw::target {

/// `rhs`, or 1 where dividing the integer `lhs` by it would trap: 0, and -1 for the least number.
mlir::Value safeDivisor(mlir::OpBuilder &b, mlir::Location loc, mlir::Value lhs, mlir::Value rhs,
                        bool isSigned);

} // namespace tw::target
