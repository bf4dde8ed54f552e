// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements as the interpreter holds them: floats as doubles that a dtype can hold, integers sign
// extended to 64 bits, i1 as 0 or 1.
#pragma once
#include "Support/DType.h"
#include <cstdint>
#include <span>

namespace tw::interpreter {

union Cell {
  double f;
  int64_t i;
};

/// `value` rounded once to the float dtype, ties to even.
double roundTo(DType dtype, double value);
void roundTo(DType dtype, std::span<Cell> cells);

/// Bits of an integer dtype: 1 for bool.
int bitsOf(DType dtype);

/// The value of the low `bits` of `value`, in the form in which cells hold integers.
inline int64_t wrap(int64_t value, int bits) {
  if (bits == 1)
    return value & 1;
  return int64_t(uint64_t(value) << (64 - bits)) >> (64 - bits);
}

/// A cell's integer read as signed (true is -1) and as unsigned.
inline int64_t asSigned(int64_t value, int bits) { return bits == 1 ? -value : value; }
inline uint64_t asUnsigned(int64_t value, int bits) {
  return bits == 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << bits) - 1);
}

/// The larger and the smaller: NaN wins, -0 is below +0.
double maximum(double a, double b);
double minimum(double a, double b);

/// The least and the greatest value of a dtype; infinities for floats. Of integers also as
/// unsigned.
Cell leastOf(DType dtype);
Cell greatestOf(DType dtype);

} // namespace tw::interpreter
