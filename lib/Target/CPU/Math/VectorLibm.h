// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/Builders.h"
#include <set>
#include <string>

namespace tw::target::cpu {

/// Calls libm's function `name` for f32 or f64 operands, scalars or vectors; adds what it needs to
/// `imports`. On vectors it is a function of the program, which is defined beside the caller and is
/// one for all kernels: in line it would take LLVM as long as the rest of a kernel.
mlir::Value callVectorLibm(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                           mlir::ValueRange operands, std::set<std::string> &imports);

} // namespace tw::target::cpu
