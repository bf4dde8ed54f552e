// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Compare.h"
#include "IO/Element.h"
#include "Support/Counted.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tw {

/// By DType: some hundred roundings of a result whose terms are of its own size.
static constexpr Tolerance tolerances[] = {
    {1e-2, 4e-3}, // f16
    {3e-2, 2e-2}, // bf16
    {1e-4, 1e-5}, // f32
    {1e-7, 1e-9}, // f64
    {0, 0},       // i8
    {0, 0},       // i16
    {0, 0},       // i32
    {0, 0},       // i64
    {0, 0},       // u8
    {0, 0},       // bool
};

Tolerance defaultTolerance(DType dtype, double largest) {
  Tolerance base = tolerances[static_cast<int>(dtype)];
  return {base.rtol, base.atol * std::max(1.0, largest)};
}

namespace {

/// One pair of elements under a tolerance; accumulates the largest errors.
class PairTest {
public:
  PairTest(Tolerance tolerance, Comparison &result) : tolerance(tolerance), result(result) {}

  bool floats(double actual, double expected) {
    if (std::isnan(actual) || std::isnan(expected))
      return std::isnan(actual) && std::isnan(expected);
    if (std::isinf(actual) || std::isinf(expected))
      return actual == expected;
    return errors(std::abs(actual - expected), std::abs(expected));
  }

  bool integers(int64_t actual, int64_t expected) {
    // Unsigned, since the difference of two i64 may need 64 bits.
    uint64_t difference = actual > expected ? uint64_t(actual) - uint64_t(expected)
                                            : uint64_t(expected) - uint64_t(actual);
    bool within = errors(static_cast<double>(difference), std::abs(double(expected)));
    return difference == 0 || (tolerance.atol + tolerance.rtol > 0 && within);
  }

private:
  bool errors(double absolute, double magnitude) {
    result.maxAbsolute = std::max(result.maxAbsolute, absolute);
    if (magnitude > 0)
      result.maxRelative = std::max(result.maxRelative, absolute / magnitude);
    return absolute <= tolerance.atol + tolerance.rtol * magnitude;
  }

  Tolerance tolerance;
  Comparison &result;
};

/// The largest finite magnitude of a float tensor.
double largestMagnitude(const HostTensor &tensor) {
  double largest = 0;
  int width = info(tensor.dtype()).bytes;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double magnitude = std::abs(loadDouble(tensor.dtype(), tensor.bytes().data() + i * width));
    if (magnitude > largest && std::isfinite(magnitude))
      largest = magnitude;
  }
  return largest;
}

std::vector<int64_t> unravel(int64_t flat, const std::vector<int64_t> &sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; flat /= sizes[d])
    index[d] = flat % sizes[d];
  return index;
}

std::string elementText(const HostTensor &tensor, int64_t i) {
  return tw::elementText(tensor.dtype(), &tensor.bytes()[i * info(tensor.dtype()).bytes]);
}

} // namespace

Result<Comparison> compare(const HostTensor &actual, const HostTensor &expected,
                           const std::string &name, ToleranceChoice choice) {
  bool isFloat = info(actual.dtype()).isFloat;
  if (actual.sizes() != expected.sizes() ||
      (actual.dtype() != expected.dtype() && !(isFloat && info(expected.dtype()).isFloat)))
    return Diagnostic{Code::CLI_3, fmt::format("{} is {}, the expected one is {}", name,
                                               actual.typeText(), expected.typeText())};
  Comparison result;
  result.count = actual.count();
  // An f64 evaluation against results that were rounded: no closer than those are.
  DType dtype = actual.dtype() == DType::F64 && isFloat ? expected.dtype() : actual.dtype();
  double largest = isFloat ? largestMagnitude(expected) : 0;
  Tolerance fallback = defaultTolerance(dtype, largest);
  if (choice.computedIn && isFloat) {
    Tolerance other = defaultTolerance(*choice.computedIn, largest);
    fallback = {std::max(fallback.rtol, other.rtol), std::max(fallback.atol, other.atol)};
  }
  result.tolerance = {choice.rtol.value_or(fallback.rtol), choice.atol.value_or(fallback.atol)};
  PairTest test(result.tolerance, result);
  const std::byte *a = actual.bytes().data(), *e = expected.bytes().data();
  int aWidth = info(actual.dtype()).bytes, eWidth = info(expected.dtype()).bytes;
  bool isSameType = actual.dtype() == expected.dtype();
  for (int64_t i = 0; i < result.count; ++i, a += aWidth, e += eWidth) {
    if (isSameType && std::memcmp(a, e, size_t(aWidth)) == 0)
      continue; // as are most elements of large results
    bool same = isFloat
                    ? test.floats(loadDouble(actual.dtype(), a), loadDouble(expected.dtype(), e))
                    : test.integers(loadInteger(actual.dtype(), a), loadInteger(actual.dtype(), e));
    if (same || result.mismatches++ > 0)
      continue;
    result.firstIndex = unravel(i, actual.sizes());
    result.firstActual = elementText(actual, i);
    result.firstExpected = elementText(expected, i);
  }
  return result;
}

/// How many times the tolerance two elements differ by; infinity where one alone is no number.
static double excess(double actual, double expected, Tolerance tolerance) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected)))
    return 0;
  double allowed = tolerance.atol + tolerance.rtol * std::abs(expected);
  double times = std::abs(actual - expected) / allowed;
  return std::isfinite(times) ? times : std::numeric_limits<double>::infinity();
}

std::vector<DifferingElement> worstElements(const HostTensor &actual, const HostTensor &expected,
                                            Tolerance tolerance, size_t most) {
  const std::byte *a = actual.bytes().data(), *e = expected.bytes().data();
  int aWidth = info(actual.dtype()).bytes, eWidth = info(expected.dtype()).bytes;
  using Place = std::pair<double, int64_t>;
  auto isWorse = [](const Place &x, const Place &y) {
    return x.first != y.first ? x.first > y.first : x.second < y.second;
  };
  std::vector<Place> worst; // a heap with the least bad one in front
  for (int64_t i = 0; i < actual.count(); ++i) {
    Place place(excess(loadDouble(actual.dtype(), a + i * aWidth),
                       loadDouble(expected.dtype(), e + i * eWidth), tolerance),
                i);
    if (place.first <= 1 || (worst.size() == most && !isWorse(place, worst.front())))
      continue;
    if (worst.size() == most) {
      std::ranges::pop_heap(worst, isWorse);
      worst.pop_back();
    }
    worst.push_back(place);
    std::ranges::push_heap(worst, isWorse);
  }
  std::ranges::sort(worst, isWorse);
  std::vector<DifferingElement> elements;
  for (auto [times, i] : worst)
    elements.push_back(
        {unravel(i, actual.sizes()), elementText(actual, i), elementText(expected, i)});
  return elements;
}

std::string Comparison::text() const {
  std::string errors =
      fmt::format("largest error {:.3g} absolute, {:.3g} relative", maxAbsolute, maxRelative);
  if (same())
    return fmt::format("{}; {}",
                       count == 1 ? "the one element agrees"
                                  : fmt::format("all {} elements agree", count),
                       errors);
  std::string place =
      firstIndex.empty() ? "it is" : fmt::format("first at [{}]:", fmt::join(firstIndex, ", "));
  return fmt::format("{} of {} {}; {}; {} {}, expected {}", mismatches, counted(count, "element"),
                     oneOrMany(mismatches, "differs", "differ"), errors, place, firstActual,
                     firstExpected);
}

} // namespace tw
