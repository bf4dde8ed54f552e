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

/// Whether emitApproximate has something for an operation on f32.
bool hasApproximation(mlir::Operation *op);

/// An operation on f32, by its name, with instructions that are a few units in the last place off;
/// null where there is nothing to gain. For results that are rounded to 16 bits; `isNext`: at once,
/// with nothing summed up before, so that 2^-11 may be off.
mlir::Value emitApproximate(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef operation,
                            mlir::ValueRange operands, bool isNext);

/// e^(x factor - y) so, of f32, by one multiplication and addition before ex2.approx; without a
/// factor e^(x - y).
mlir::Value emitExpOfDifference(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                                mlir::Value factor, mlir::Value y);

/// x / y so, where many x have one y: what is computed of y alone is the same for all of them.
mlir::Value emitDivisionByShared(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                                 mlir::Value y);

/// Whether `value`, of f32, only gets to f16 or bf16, through elementwise operations, shapes,
/// reductions, sums of products and loops. False, too, where it gets to very many values.
bool isRoundedToHalf(mlir::Value value, bool isNext = false);

} // namespace tw::target::nvidia
