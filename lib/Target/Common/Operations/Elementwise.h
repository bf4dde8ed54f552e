// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementwise operations of tile programs on scalars and vectors: what docs/tile-programs.md
// ("Numbers") defines, on every target. An index is i64 here.
#pragma once
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>
#include <string>

namespace tw::target {

/// What a target has of its own.
struct ElementwiseFunctions {
  /// A function of the math dialect on f32, as polynomials; null where there is none.
  llvm::function_ref<mlir::Value(llvm::StringRef operation, mlir::ValueRange)> polynomial;
  /// A function of libm, under its name for f64.
  llvm::function_ref<mlir::Value(llvm::StringRef name, mlir::ValueRange)> libm;
  /// Takes the names of functions that LLVM may call for an operation.
  std::set<std::string> &imports;
};

/// `op` on operands of which each is a scalar or a vector; all vectors have the same length, as has
/// the result then.
mlir::Value emitElementwise(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op,
                            llvm::ArrayRef<mlir::Value> operands,
                            const ElementwiseFunctions &functions);

/// A float, or a vector of them, in another float type: rounded once. What is no float stays.
mlir::Value convertFloat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                         mlir::Type element);

/// The type of an emitted scalar: i64 for an index.
mlir::Type scalarType(mlir::Type type);

/// A constant of an integer or a float type.
mlir::Value emitNumber(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double number);

/// A vector of `lanes` times `scalar`.
mlir::Value splat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value scalar, int64_t lanes);

} // namespace tw::target
