// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// erf on [0, 4) as 16 polynomials, each around a float where erf is very nearly a float too, so
// that the constant terms have no error to speak of (S. Gal, "Computing elementary functions: a new
// approach for achieving high accuracy and good performance", 1986).
#pragma once
#include <array>

namespace tw::target::cpu {

struct ErfPieces {
  static constexpr int count = 16, degree = 6;
  /// Piece i has what is nearest to i * width; from `end` on erf rounds to 1, and is 1.
  static constexpr double width = 0.2578125, end = 0x1.f5a88ap+1;

  std::array<float, count> centers;
  /// erf(x) is about the sum of coefficients[i][piece] * (x - center)^i; in piece 0 with x added.
  std::array<std::array<float, count>, degree + 1> coefficients;

  /// They are fitted when they are first asked for.
  static const ErfPieces &get();
};

} // namespace tw::target::cpu
