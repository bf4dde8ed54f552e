// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Math/ErfPieces.h"
#include <cmath>
#include <numbers>

namespace tw::target::cpu {
namespace {

constexpr int terms = ErfPieces::degree; // of (erf(x) - erf(center)) / (x - center)
using Polynomial = std::array<double, terms>;

/// Of the floats from `wanted` on, one where erf is a float but for a small part of its last bit.
float centerNear(double wanted) {
  constexpr int tries = 1000;
  constexpr double goodEnough = 1.0 / 256;
  float best = 0;
  double least = 1;
  float at = float(wanted);
  for (int i = 0; i < tries && wanted > 0 && least > goodEnough; ++i) {
    double exact = std::erf(double(at));
    double unit = double(std::nextafter(float(exact), 2.0F)) - float(exact);
    if (double error = std::abs(exact - float(exact)) / unit; error < least)
      least = error, best = at;
    at = std::nextafter(at, 4.0F);
  }
  return best;
}

double slope(double center, double x) {
  constexpr double tiny = 1e-5;
  if (std::abs(x - center) < tiny) { // two terms of the series, no difference of equals
    double first = 2 / std::sqrt(std::numbers::pi) * std::exp(-center * center);
    return first * (1 - center * (x - center));
  }
  return (std::erf(x) - std::erf(center)) / (x - center);
}

/// The polynomial in x - center through Chebyshev's points of [low, high] (Newton's form,
/// expanded).
Polynomial fit(double center, double low, double high) {
  std::array<double, terms> at, difference;
  for (int i = 0; i < terms; ++i) {
    double place = std::cos(std::numbers::pi * (i + 0.5) / terms);
    at[i] = (low + high) / 2 + (high - low) / 2 * place;
    difference[i] = slope(center, at[i]);
  }
  for (int order = 1; order < terms; ++order)
    for (int i = terms - 1; i >= order; --i)
      difference[i] = (difference[i] - difference[i - 1]) / (at[i] - at[i - order]);
  Polynomial sum{};
  for (int i = terms - 1; i >= 0; --i) {
    // sum * (x - at[i]) + difference[i], in powers of x - center
    for (int power = terms - 1; power >= 0; --power)
      sum[power] = sum[power] * (center - at[i]) + (power > 0 ? sum[power - 1] : 0);
    sum[0] += difference[i];
  }
  return sum;
}

ErfPieces makePieces() {
  ErfPieces pieces;
  for (int i = 0; i < ErfPieces::count; ++i) {
    double middle = i * ErfPieces::width, half = ErfPieces::width / 2;
    float center = pieces.centers[i] = centerNear(middle);
    pieces.coefficients[0][i] = float(std::erf(double(center)));
    Polynomial polynomial = fit(center, middle - half, middle + half);
    polynomial[0] -= i == 0 ? 1 : 0;
    for (int power = 0; power < terms; ++power)
      pieces.coefficients[power + 1][i] = float(polynomial[power]);
  }
  return pieces;
}

} // namespace

const ErfPieces &ErfPieces::get() {
  static const ErfPieces pieces = makePieces();
  return pieces;
}

} // namespace tw::target::cpu
