// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tw::target {

/// Turns the loops (scf, arith, math, cf) in all functions of `module` into the llvm dialect.
/// Indices are i64 already.
mlir::LogicalResult lowerLoops(mlir::ModuleOp module);

} // namespace tw::target
