// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How evenly programs of equal length keep threads busy. How many threads there are is known only
// at a call: configurations are chosen for some, and variants for many (ForWorkers.h).
#pragma once
#include "GraphToTile/Configuration/RowFusionLimits.h"
#include "GraphToTile/Configuration/SplitLimits.h"
#include "Target/CPU/Configuration/Memory.h"
#include <algorithm>
#include <cstdint>

namespace tw::target::cpu {

constexpr int64_t someWorkers = 16;
/// What is as good as all of them.
constexpr double goodShare = 0.9;

/// Cycles of a program that is worth handing over to another thread, which may take some 9,000.
constexpr double handedOverCycles = 1 << 14;

/// Loops with `combine` are run in parts where programs are fewer than workers might be; then there
/// are many times as many, so that they end at the same time and share what is in cache. A part
/// does tens of microseconds of work, against some for a second launch. 4 bytes from memory take a
/// core as long as 16 to 32 multiplications of a product.
constexpr conversion::SplitLimits splitLimits{/*enoughPrograms=*/32, /*wantedPrograms=*/256,
                                              /*leastWork=*/1 << 20, /*partsOfUnknown=*/16,
                                              /*loadWork=*/16};

/// Whatever the caches of the machine: fusion depends on none.
constexpr int64_t rowFusionBytes = 1 << 20;

/// Small layers take as long as their workers do to meet after each. On 16 cores of a Xeon, two
/// pairs of low rank for 128 rows take 0.54 of the time in kernels of two, three layers of
/// 32-64-32-4 0.46; layers of 0.6 GFLOP together 0.80 to 1.12. With one thread it makes little
/// difference (docs/compiler-kernels.md).
constexpr conversion::RowFusionLimits rowFusionLimits{/*mostOperations=*/1 << 30,
                                                      /*mostBytes=*/rowFusionBytes,
                                                      /*mostSharedBytes=*/rowFusionBytes,
                                                      /*leastPrograms=*/someWorkers};

/// The share of the workers that have work, in the mean while `programs` run.
constexpr double busyShare(int64_t programs) {
  int64_t rounds = (programs + someWorkers - 1) / someWorkers;
  return double(programs) / double(rounds * someWorkers);
}

/// Whether `programs` keep clearly more of them busy than `others`.
constexpr bool isMoreEven(int64_t programs, int64_t others) {
  return busyShare(others) < goodShare && busyShare(programs) > busyShare(others);
}

/// How many times as long `programs` that take so many cycles together may take because some of
/// the workers have none, of those that programs worth handing over can keep busy: a kernel that is
/// done sooner than another thread takes to begin is no faster in more parts.
constexpr double fewProgramsFactor(double cycles, int64_t programs) {
  double useful = std::clamp(cycles / handedOverCycles, 1.0, double(someWorkers));
  return std::max(1.0, useful / double(programs));
}

} // namespace tw::target::cpu
