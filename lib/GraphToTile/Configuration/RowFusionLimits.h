// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When kernels that follow each other are worth running block of rows by block of rows in one
// kernel. A target says it, for tile-fuse-rows.
#pragma once
#include <cstdint>

namespace tw::conversion {

/// By default none are, and a configuration cannot ask for it.
struct RowFusionLimits {
  /// Floating-point operations of all of them together, at most: where there are more, beginning a
  /// kernel takes little of the time.
  int64_t mostOperations = 0;
  /// Bytes of the rows of a program at most, of all values that it passes on.
  int64_t mostBytes = 0;
  /// Bytes at most that all programs read, each for its own rows: weights.
  int64_t mostSharedBytes = 0;
  /// How many programs there have to be at least with the fewest rows that fit all kernels, and
  /// about how many are made, or a multiple: so many workers have one.
  int64_t leastPrograms = 1;
};

} // namespace tw::conversion
