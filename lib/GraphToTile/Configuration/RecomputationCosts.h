// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fusion weighs where a producer would be computed at every load of its result, instead of
// once. A target says it, for tile-fuse.
#pragma once

namespace tw::conversion {

/// In cycles of one core. By default nothing is computed again: what is stored costs nothing.
struct RecomputationCosts {
  double dispatch = 0;  // of one kernel more, beside its programs
  double operation = 0; // of one element of a tile: an addition, a comparison
  double function = 0;  // the same of a division, or a function such as exp
  double access = 0;    // an element that is read or written
};

} // namespace tw::conversion
