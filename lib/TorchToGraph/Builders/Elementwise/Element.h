// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on single elements with PyTorch's semantics: what the bodies of structured ops say.
#pragma once
#include "Support/DType.h"
#include "mlir/IR/Builders.h"

namespace tw::lower {

/// Emits arithmetic on elements of one dtype. Floats must be f32 or f64 unless only moved, cast or
/// compared (see opmath). In bool, add is or, mul is and.
struct Element {
  mlir::OpBuilder &b;
  mlir::Location loc;
  DType dtype;

  Element(mlir::OpBuilder &b, mlir::Location loc, DType dtype) : b(b), loc(loc), dtype(dtype) {}
  /// The same place, another dtype.
  Element as(DType other) const { return {b, loc, other}; }

  mlir::Type type() const;
  mlir::Value constant(double value) const; // rounded, truncated to an integer, or != 0
  mlir::Value constant(int64_t value) const;
  mlir::Value constant(int value) const { return constant(int64_t(value)); }
  /// The neutral elements of max and min: -inf or the smallest integer, inf or the largest.
  mlir::Value lowest() const;
  mlir::Value highest() const;

  /// `x` of dtype `from` in this dtype: floats to integers truncate (out of range: the smallest
  /// integer), to bool means != 0, u8 and bool extend with zeros.
  mlir::Value cast(mlir::Value x, DType from) const;

  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, mlir::Value y) const;
  /// Floats: IEEE. Integers: toward zero; a divisor of 0 ends the call with an error.
  mlir::Value div(mlir::Value x, mlir::Value y) const;
  /// Toward minus infinity (Python's //), and the remainder with the divisor's sign (Python's %).
  mlir::Value floorDiv(mlir::Value x, mlir::Value y) const;
  mlir::Value remainder(mlir::Value x, mlir::Value y) const;
  /// The remainder with the dividend's sign (C's fmod and %).
  mlir::Value fmod(mlir::Value x, mlir::Value y) const;
  mlir::Value neg(mlir::Value x) const;
  mlir::Value abs(mlir::Value x) const;
  /// NaN when either is NaN, as torch.maximum.
  mlir::Value max(mlir::Value x, mlir::Value y) const;
  mlir::Value min(mlir::Value x, mlir::Value y) const;

  // Comparisons yield i1. Ordered: false with NaN, except ne.
  mlir::Value eq(mlir::Value x, mlir::Value y) const;
  mlir::Value ne(mlir::Value x, mlir::Value y) const;
  mlir::Value lt(mlir::Value x, mlir::Value y) const;
  mlir::Value le(mlir::Value x, mlir::Value y) const;
  mlir::Value gt(mlir::Value x, mlir::Value y) const { return lt(y, x); }
  mlir::Value ge(mlir::Value x, mlir::Value y) const { return le(y, x); }
  mlir::Value isNan(mlir::Value x) const; // false constant for integers
  mlir::Value isNonZero(mlir::Value x) const { return ne(x, constant(0)); }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) const;
  mlir::Value conjunction(mlir::Value x, mlir::Value y) const; // bitwise and
  mlir::Value disjunction(mlir::Value x, mlir::Value y) const; // bitwise or
  mlir::Value exclusive(mlir::Value x, mlir::Value y) const;   // bitwise xor
  mlir::Value complement(mlir::Value x) const;                 // bitwise not

  // Floats only.
  mlir::Value sqrt(mlir::Value x) const;
  mlir::Value rsqrt(mlir::Value x) const;
  mlir::Value exp(mlir::Value x) const;
  mlir::Value expm1(mlir::Value x) const;
  mlir::Value log(mlir::Value x) const;
  mlir::Value log1p(mlir::Value x) const;
  mlir::Value tanh(mlir::Value x) const;
  mlir::Value erf(mlir::Value x) const;
  mlir::Value pow(mlir::Value x, mlir::Value y) const;
  mlir::Value floor(mlir::Value x) const;
  mlir::Value sigmoid(mlir::Value x) const; // 1 / (1 + exp(-x))
  mlir::Value reciprocal(mlir::Value x) const { return div(constant(1), x); }

  /// The divisor, after the call has been made to end with an error where it is 0.
  mlir::Value checkedDivisor(mlir::Value y) const;

private:
  template <typename FloatOp, typename IntegerOp>
  mlir::Value either(mlir::Value x, mlir::Value y) const;
};

} // namespace tw::lower
