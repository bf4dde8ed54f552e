// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which programs each block of a launch runs, where they are of different lengths: decided before
// the launch, so that all blocks end at about the same time. Plain data.
#pragma once
#include <cstdint>
#include <vector>

namespace tw::target::nvidia {

/// For each block its number of programs, then round by round the program of each block, or 0 where
/// it has none.
struct WorkTable {
  std::vector<int32_t> words;
  int64_t blocks = 0;
};

/// `heads` times as many programs as there are `trips`, row-major; a program costs its trips and a
/// bit more. Those of `headsTogether` heads follow each other, so that they share a cache, the
/// longest first, each to the block that has least to do (Graham, "Bounds on Multiprocessing Timing
/// Anomalies", 1969).
WorkTable makeWorkTable(const std::vector<int64_t> &trips, int64_t heads, int64_t headsTogether,
                        int64_t blocks);

/// On programs whose trips all warp groups of a block share; the others are the first of as many
/// programs of a head as there are warp groups, side by side.
inline constexpr int32_t dealtProgram = 1 << 30;

/// Programs of equally many trips, `programsOfHead` for each of `heads`, row-major: each block has
/// as many as the others but for one, next to each other.
WorkTable dealPrograms(int64_t programsOfHead, int64_t heads, int64_t warpGroups, int64_t blocks);

} // namespace tw::target::nvidia
