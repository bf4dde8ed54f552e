// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single elements of any dtype as numbers. For reading, writing and comparing, not for speed.
#pragma once
#include "Support/DType.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace tw {

/// Rounds to nearest even; NaN stays NaN.
uint16_t toBFloat16(float value);
float fromBFloat16(uint16_t bits);

/// The element at `p` as a double: exact but for i64 beyond 2^53. A bool is 0 or 1.
double loadDouble(DType dtype, const std::byte *p);
/// The element at `p` of an integer or bool dtype, exactly.
int64_t loadInteger(DType dtype, const std::byte *p);

/// Rounds `value` to a float dtype (bf16 by way of f32) and stores it at `p`.
void storeFloat(DType dtype, double value, std::byte *p);
/// Stores a value that is in range of an integer dtype or bool.
void storeInteger(DType dtype, int64_t value, std::byte *p);

/// The element at `p` for people: "true", "-3", the shortest digits that give the float back.
std::string elementText(DType dtype, const std::byte *p);

/// The range of an integer dtype or bool, both ends included.
struct IntegerRange {
  int64_t min, max;
};
IntegerRange integerRange(DType dtype);

/// The largest finite number of a float dtype.
double largestFinite(DType dtype);

} // namespace tw
