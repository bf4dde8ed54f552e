// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Comparison.h"
#include <algorithm>
#include <cmath>
#include <vector>

namespace tw::tune {

/// The largest r for which the r-th smallest and r-th largest of n values enclose the median with
/// 95 %: as many of n fair coins are less than r with a probability of 2.5 % at most. At least 1.
static size_t enclosingRank(size_t n) {
  double probability = std::pow(0.5, double(n)), sum = probability;
  size_t rank = 0;
  while (sum <= 0.025 && rank < n) {
    ++rank;
    probability *= double(n - rank + 1) / double(rank);
    sum += probability;
  }
  return std::max<size_t>(rank, 1);
}

TimeRatio compareTimes(std::span<const double> candidate, std::span<const double> incumbent) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(candidate.size(), incumbent.size()); ++i)
    if (incumbent[i] > 0)
      ratios.push_back(candidate[i] / incumbent[i]);
  if (ratios.empty())
    return {};
  std::ranges::sort(ratios);
  size_t n = ratios.size(), rank = enclosingRank(n);
  return {(ratios[(n - 1) / 2] + ratios[n / 2]) / 2, ratios[rank - 1], ratios[n - rank]};
}

} // namespace tw::tune
