// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Are two results the same, as far as floating point lets them be?
#pragma once
#include "IO/HostTensor.h"
#include <optional>
#include <string>
#include <vector>

namespace tw {

/// a equals e when |a - e| <= atol + rtol * |e|.
struct Tolerance {
  double rtol, atol;
};

/// The one table of default tolerances. `largest` is the largest finite |e| of the tensor: results
/// that cancel are as inexact as what they were made of, so atol grows with it (from 1 on).
/// Integers and bools are compared exactly.
Tolerance defaultTolerance(DType dtype, double largest);

/// What a user says of the tolerance; the rest is the default: that of the dtype, or of a less
/// exact one in which the values were computed.
struct ToleranceChoice {
  std::optional<double> rtol, atol;
  std::optional<DType> computedIn = {};
};

/// What a comparison found. NaN equals NaN and an infinity equals itself; any other pair with one
/// of them is a mismatch and does not enter the largest errors.
struct Comparison {
  Tolerance tolerance = {};        // that was applied
  int64_t count = 0;               // elements compared
  int64_t mismatches = 0;          // of them
  double maxAbsolute = 0;          // largest |a - e| over all finite pairs
  double maxRelative = 0;          // largest |a - e| / |e| over finite pairs with e != 0
  std::vector<int64_t> firstIndex; // of the first mismatch
  std::string firstActual, firstExpected;

  bool same() const { return mismatches == 0; }
  /// "3 of 6 elements differ; largest error 0.5 absolute, 0.25 relative; first at [0, 1]: 2.5,
  /// expected 2"
  std::string text() const;
};

/// An element, and what it is in two tensors.
struct DifferingElement {
  std::vector<int64_t> index;
  std::string actual, expected;
};

/// Of two tensors that `compare` takes, the elements outside of the tolerance that are furthest
/// from it, at most `most`; the worst comes first.
std::vector<DifferingElement> worstElements(const HostTensor &actual, const HostTensor &expected,
                                            Tolerance tolerance, size_t most);

/// Errors (CLI_3): different sizes; different dtypes, unless both are floats (then `expected` is
/// more or less exact, which is fine; an f64 result is judged as what it is compared with). `name`
/// is for messages.
Result<Comparison> compare(const HostTensor &actual, const HostTensor &expected,
                           const std::string &name, ToleranceChoice choice = {});

} // namespace tw
