// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/Number.h"
#include "IO/Element.h"
#include <bit>
#include <cmath>
#include <limits>

namespace tw::interpreter {

/// By way of an f32 rounded to odd, which no second rounding can betray.
static double roundToBFloat16(double value) {
  float narrow = static_cast<float>(value);
  if (double(narrow) != value && !std::isnan(value) && !std::isinf(value)) {
    uint32_t bits = std::bit_cast<uint32_t>(narrow);
    if (std::fabs(double(narrow)) > std::fabs(value))
      --bits;
    narrow = std::bit_cast<float>(bits | 1);
  }
  return fromBFloat16(toBFloat16(narrow));
}

double roundTo(DType dtype, double value) {
  switch (dtype) {
  case DType::F16:
    return static_cast<double>(static_cast<_Float16>(value));
  case DType::BF16:
    return roundToBFloat16(value);
  case DType::F32:
    return static_cast<float>(value);
  default:
    return value;
  }
}

void roundTo(DType dtype, std::span<Cell> cells) {
  if (dtype == DType::F32)
    for (Cell &cell : cells)
      cell.f = static_cast<float>(cell.f);
  else if (dtype == DType::F16 || dtype == DType::BF16)
    for (Cell &cell : cells)
      cell.f = roundTo(dtype, cell.f);
}

int bitsOf(DType dtype) { return dtype == DType::Bool ? 1 : info(dtype).bytes * 8; }

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

Cell leastOf(DType dtype) {
  if (info(dtype).isFloat)
    return {.f = -std::numeric_limits<double>::infinity()};
  return {.i = integerRange(dtype).min};
}

Cell greatestOf(DType dtype) {
  if (info(dtype).isFloat)
    return {.f = std::numeric_limits<double>::infinity()};
  return {.i = integerRange(dtype).max};
}

} // namespace tw::interpreter
