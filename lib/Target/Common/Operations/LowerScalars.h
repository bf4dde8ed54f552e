// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <set>
#include <string>

namespace tw::target {

/// Brings the scalar arith and math operations of `module` into the form that lowers to LLVM:
///
///   - f16 and bf16 are computed in f32 and rounded (LLVM would call compiler-rt);
///   - transcendental functions are calls of libm;
///   - integer division never traps, and integer powers are multiplications.
///
/// Adds the functions of libm that the code may call to `imports`.
mlir::LogicalResult lowerScalars(mlir::ModuleOp module, std::set<std::string> &imports);

} // namespace tw::target
