// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions on a GPU: there is no libm to call, so all of them are code of ours.
#pragma once
#include "mlir/IR/Builders.h"

namespace tw::target::nvidia {

/// An operation of the math dialect on f32 as a polynomial; null where there is none.
mlir::Value emitPolynomial(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef operation,
                           mlir::ValueRange operands);

/// The function that libm calls `name` for f64, on f32 or f64. Null for one that tile programs do
/// not have.
mlir::Value emitFunction(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                         mlir::ValueRange operands);

} // namespace tw::target::nvidia
