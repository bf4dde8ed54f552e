// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of libm in generated code.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include <set>
#include <string>

namespace tw::target {

/// libm's name, for f64, of an operation of the math dialect that needs a call; empty for the
/// others: those have an LLVM intrinsic, and `intrinsicImport` names what it may call.
llvm::StringRef libmName(mlir::Operation *op);
llvm::StringRef intrinsicImport(mlir::Operation *op);

/// Calls libm's function `name` for f32 or f64 scalars; adds what it is called to `imports`.
mlir::Value callLibm(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                     mlir::ValueRange operands, std::set<std::string> &imports);

/// Calls a function that neither reads nor writes memory, and returns what its operands are.
mlir::Value callPure(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef symbol,
                     mlir::ValueRange operands);

/// Declares the functions of `module` that are called and not there.
void declareCalled(mlir::ModuleOp module);

/// Moves the functions of `from` into another module, which may declare some of them already, and
/// define those that are weak.
void moveFunctions(mlir::ModuleOp from, mlir::ModuleOp into);

} // namespace tw::target
