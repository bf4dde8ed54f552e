// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a loop with `combine` is worth running in parts that workers share. A target says it, for
// tile-split.
#pragma once
#include <cstdint>

namespace tw::conversion {

/// By default no loop is split.
struct SplitLimits {
  /// Programs from which on a kernel is left as it is.
  int64_t enoughPrograms = 0;
  /// How many programs a split one has, about.
  int64_t wantedPrograms = 0;
  /// What a part does at least: multiplications, or elements of other operations.
  int64_t leastWork = 1;
  /// Parts at most, where only calls tell how many trips the loop makes.
  int64_t partsOfUnknown = 1;
  /// Multiplications of products that take as long as an element does that is loaded.
  int64_t loadWork = 1;
  /// Parts up to which what combines them is written out, so that the states of all are read at one
  /// time; more are combined in a loop.
  int64_t mostWrittenOut = 1;
};

} // namespace tw::conversion
