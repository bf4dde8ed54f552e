// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes: constants fold at once, the rest becomes arith on index values, and sizes
// can be compared and divided as polynomials in what they are computed from.
#pragma once
#include "mlir/IR/Builders.h"

namespace tw::lower {

/// Emits size arithmetic at `b`'s insertion point. Operands are IntegerAttr or index values.
struct IndexMath {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::OpFoldResult constant(int64_t value) const { return b.getIndexAttr(value); }
  /// The SSA value of `x`.
  mlir::Value value(mlir::OpFoldResult x) const;

  mlir::OpFoldResult add(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  mlir::OpFoldResult sub(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  mlir::OpFoldResult mul(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  /// Toward minus infinity. A quotient that is a polynomial is found exactly. The divisor must not
  /// be 0 at run time (of constants: yields 0).
  mlir::OpFoldResult floorDiv(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  /// The quotient of polynomials where one divides the other.
  std::optional<mlir::OpFoldResult> exactDiv(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  mlir::OpFoldResult ceilDiv(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  mlir::OpFoldResult remainder(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  mlir::OpFoldResult max(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  mlir::OpFoldResult min(mlir::OpFoldResult x, mlir::OpFoldResult y) const;
  mlir::OpFoldResult product(mlir::ArrayRef<mlir::OpFoldResult> factors) const;
};

/// The value of a constant size.
std::optional<int64_t> constantOf(mlir::OpFoldResult x);
/// True when the two are known to be equal: as constants, values or polynomials.
bool knownEqual(mlir::OpFoldResult x, mlir::OpFoldResult y);
bool knownEqualProducts(llvm::ArrayRef<mlir::OpFoldResult> x, llvm::ArrayRef<mlir::OpFoldResult> y);
/// A number that x - y is never less than, from what `minimum` says of single values; empty when
/// none is found.
std::optional<int64_t> lowerBound(mlir::OpFoldResult x,
                                  llvm::function_ref<std::optional<int64_t>(mlir::Value)> minimum,
                                  std::optional<mlir::OpFoldResult> y = std::nullopt);
/// As a dimension of a tensor type: the constant or ShapedType::kDynamic.
llvm::SmallVector<int64_t> staticSizes(mlir::ArrayRef<mlir::OpFoldResult> sizes);

} // namespace tw::lower
