// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/CpuFeatures.h"
#include "mlir/IR/Builders.h"

namespace tw::target::cpu {

/// A function of the math dialect on f32, a scalar or a vector, as polynomials; nothing where there
/// is none (then the operation itself is emitted). unittests/Target/CPUMathTest.cpp measures the
/// errors that docs/performance.md states.
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef operation,
                     mlir::ValueRange operands, const CpuFeatures &cpu);

/// x / d on vectors of f32, given 1 / d as a float rounded towards 0 and what that lacks, or the
/// least bit of it if it lacks nothing; d from 2^-60 to 2^60. Rounded like a division, but for one
/// in some ten million; where x or x / d is below 2^-100, up to 1.5 units in the last place off.
mlir::Value emitQuotient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value high,
                         mlir::Value low, const CpuFeatures &cpu);

} // namespace tw::target::cpu
