// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies where in shared memory while attention runs, and who does what. Plain data.
#pragma once
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {

/// Terms of either product are multiplied by 16: so many with those that are 0.
inline int64_t paddedTerms(int64_t terms) { return alignUp(terms, 16); }

/// Registers of a thread for elements of so many bytes beside its scores: it has two rows, and of
/// each a quarter of the terms, in neighbours of two, which share registers.
inline int64_t registersOfMask(int64_t terms, bool hasRows, int64_t bytes) {
  constexpr int64_t registerBytes = 4;
  return (hasRows ? 2 : 1) * (terms / 8) * ((2 * bytes + registerBytes - 1) / registerBytes);
}

/// Which scores the trips of a program's one loop hide: those of terms beyond the last one, or by
/// row, too, as later ones.
enum class Hides { Nothing, End, ByRow };

/// Of one program and one trip; terms and depth with those that are 0.
struct AttentionShape {
  int64_t rows, terms, depth, width;
  bool isDepthInnermostInQueries = true, isDepthInnermostInKeys = true;
  bool hasLoop = true; // else a program has one trip
  /// Loops follow each other; a trip stands behind a loop.
  bool hasLoops = false, hasTail = false;
  bool isMasked = false; // weights depend on more than scores
  /// Registers of a thread for what that is of a trip of a loop, if it can be read before the
  /// products; 0: it is read with the weights.
  int64_t maskRegisters = 0;
  bool hasUnknownSizes = false; // how many terms there are only the call brings
  /// Warp groups to which trips are dealt, or programs next to each other, of 64 rows; 0: each has
  /// 64 of a program's rows.
  int64_t dealtTo = 0;
  int64_t carriedRows = 2; // numbers of each row that the loop carries
  int64_t tileRows = 0;    // of the rows, those that there are; 0: all
  Hides hides = Hides::Nothing;
  bool mayHaveNoTrip = false; // programs, or warp groups of one, look whether they have any
};

/// Rings of queries (a stage a program), of keys and of values, then what is stored by TMA, then
/// barriers. Where a program has one trip, several blocks share a multiprocessor instead of stages,
/// and a thread that multiplies begins the loads.
struct AttentionPlan {
  OperandTile queries, keys, values;
  int64_t warpGroups; // each has 64 rows
  bool dealsTrips;    // or puts programs side by side (AttentionShape::dealtTo)
  RingPlan queryRing, keyRing, valueRing;
  StorePlan store; // what warp groups combine lies there, too
  int64_t sharedBytes;
  int64_t blocksOfMultiprocessor;
  bool hasLoaders;      // warps that only load
  bool takesTurns;      // warp groups multiply one after the other
  bool readsMasksAhead; // before a trip's products, of loops
  /// PipelineConfiguration::isTriggerLate.
  bool isTriggerLate;

  /// Of the queries of one program.
  int64_t queryBytes() const { return alignUp(queries.bytes(), stageAlignment); }
  int64_t threads() const { return 128 * (warpGroups + hasLoaders); }
};

/// The default: where programs have one trip, blocks of the next launch would take the place of
/// this one's that have not begun.
inline bool isTriggerBetterLate(const AttentionShape &shape) { return !shape.hasLoop; }
/// The default: as many stages as fit, to 4; 0 where it does not fit.
int64_t chooseStages(const AttentionShape &shape, const GpuArchitecture &architecture);
/// Nothing where it does not fit into shared memory or registers.
std::optional<AttentionPlan> planAttention(const AttentionShape &shape, int64_t stages,
                                           const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
