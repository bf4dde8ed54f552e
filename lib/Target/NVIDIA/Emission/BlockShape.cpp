// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Emission/BlockShape.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "llvm/Support/MathExtras.h"

namespace tw::target::nvidia {

namespace {

constexpr int64_t usualThreads = 256, mostThreads = 1024;
/// Of a block of warps with a program each. Measured on an H200: a multiprocessor begins a block of
/// threads only every 160 ns, in which it could read and write 5 kB.
constexpr int64_t mostWarps = 8;

int64_t inWarps(int64_t threads) {
  return int64_t(llvm::alignTo(uint64_t(threads), uint64_t(lanesOfWarp)));
}

/// Of a row of those that are gone through together, else of the largest tile.
int64_t groupsOf(const Width &width) { return *width.largestTile / width.rows / width.neighbours; }

/// Points of the largest tile that each of so many threads has.
int64_t pointsOfThread(const Width &width, int64_t threads) {
  return int64_t(llvm::divideCeil(groupsOf(width), threads)) * width.neighbours * width.rows;
}

} // namespace

bool areHeldBy(const Width &width, int64_t threads) {
  return width.largestTile && pointsOfThread(width, threads) <= width.held;
}

namespace {

/// As many as there are groups, within bounds; where a thread has several groups, such that all
/// have as many of them, if possible.
int64_t threadsOfProgram(const Width &width) {
  if (!width.largestTile)
    return usualThreads;
  auto isHeld = [&](int64_t threads) { return areHeldBy(width, threads); };
  int64_t groups = groupsOf(width);
  if (groups <= usualThreads)
    return std::max(lanesOfWarp, inWarps(groups));
  int64_t first = usualThreads;
  while (first < mostThreads && !isHeld(first))
    first *= 2;
  if (!isHeld(first))
    return usualThreads;
  for (int64_t threads = first; threads >= first / 2; threads -= lanesOfWarp)
    if (groups % threads == 0 && isHeld(threads))
      return threads;
  return first;
}

} // namespace

BlockShape blockShapeFor(const Width &width, std::optional<int64_t> programs,
                         const GpuArchitecture &architecture) {
  int64_t warps = mostWarps;
  if (programs) // all multiprocessors have some
    warps = std::min(warps,
                     int64_t(llvm::bit_floor(uint64_t(*programs / architecture.multiprocessors))));
  if (width.isRowByRow && areHeldBy(width, lanesOfWarp) && warps > 1)
    return {lanesOfWarp, warps};
  return {threadsOfProgram(width), 1};
}

} // namespace tw::target::nvidia
