// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/Builders.h"

namespace tw::target {

/// Whether emitInF64 has the function that libm calls `name`, on values of `type`.
bool isComputedInF64(llvm::StringRef name, mlir::Type type);

/// A function of f32 numbers, scalars or vectors, computed in f64 and rounded: within 0.51 units in
/// the last place. docs/performance.md states what unittests/Target/CPU/CPUMathTest.cpp measures.
mlir::Value emitInF64(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                      mlir::ValueRange operands);

} // namespace tw::target
