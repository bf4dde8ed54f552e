// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A summary of many measurements of the same thing.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tw::cli {

struct Statistics {
  double median = 0, p10 = 0, p90 = 0, min = 0;
  int64_t count = 0;
};

/// Percentiles by linear interpolation between the two nearest ranks. `samples` is not empty.
inline Statistics statistics(std::vector<double> samples) {
  std::ranges::sort(samples);
  auto percentile = [&](double share) {
    double rank = share * static_cast<double>(samples.size() - 1);
    size_t below = static_cast<size_t>(rank);
    size_t above = std::min(below + 1, samples.size() - 1);
    return std::lerp(samples[below], samples[above], rank - static_cast<double>(below));
  };
  return {percentile(0.5), percentile(0.1), percentile(0.9), samples[0],
          static_cast<int64_t>(samples.size())};
}

} // namespace tw::cli
