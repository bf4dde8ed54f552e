// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of two programs that were measured in turns.
#pragma once
#include <limits>
#include <span>

namespace tw::tune {

/// How long one takes, in terms of the other: less than 1 is faster.
struct TimeRatio {
  double median = 1;
  double low = 0, high = std::numeric_limits<double>::infinity(); // it is between them with a
                                                                  // confidence of at least 95 %
  bool isFaster() const { return high < 1; }
  bool isSlower() const { return low > 1; }
};

/// Of pairs of times: candidate[i] and incumbent[i] were measured one after the other, so that what
/// slows down both cancels. The interval is that of the sign test, from order statistics of the
/// ratios (Conover, Practical Nonparametric Statistics, 3.2): it assumes nothing of how noise is
/// distributed. Fewer than six pairs are too few for 95 %: then it is all that was seen.
TimeRatio compareTimes(std::span<const double> candidate, std::span<const double> incumbent);

} // namespace tw::tune
