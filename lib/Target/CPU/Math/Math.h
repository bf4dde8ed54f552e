// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/CPU/CpuFeatures.h"
#include "mlir/IR/Builders.h"

namespace tw::target::cpu {

/// A function of the math dialect on f32, a scalar or a vector, as polynomials; nothing where there
/// is none (then the operation itself is emitted). unittests/Target/CPU/CPUMathTest.cpp measures
/// the errors that docs/performance.md states.
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef operation,
                     mlir::ValueRange operands, const CpuFeatures &cpu);

} // namespace tw::target::cpu
