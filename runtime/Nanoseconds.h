// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <chrono>
#include <cstdint>
#include <ctime>

namespace tw::rt {

/// Of the monotonic clock, from which all times of a run are taken.
inline int64_t nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Of the same clock, behind it by some milliseconds, for a quarter of the time that it takes.
inline int64_t coarseNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace tw::rt
