// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/Builders.h"

namespace tw::target {

/// The function that libm calls `name`, on scalars of f64, for where there is no libm: a few units
/// in the last place, for pow up to |y log x| times as many; arguments of sin, cos and tan up to
/// 2^30. The functions that tile programs have; null for others.
mlir::Value emitF64(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                    mlir::ValueRange operands);

} // namespace tw::target
