// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Cancellation.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw::target {

/// Turns the loops (scf, arith, math, cf) in all functions of `module` into the llvm dialect.
/// Indices are i64 already. Fails, without a report, where it is cancelled.
mlir::LogicalResult lowerLoops(mlir::ModuleOp module, const Cancellation *cancellation = nullptr);

} // namespace tw::target
