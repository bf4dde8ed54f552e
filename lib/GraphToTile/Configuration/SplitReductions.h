// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop programs that reduce along a long dimension: a loop over chunks of it carries what is
// reduced, and says how the results of two parts combine, so workers may share it.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"

namespace tw::conversion {

/// Where a statement stands to a loop over chunks of a dimension.
enum class LoopPosition {
  Before,  // needs nothing of it
  Inside,  // its results extend along the dimension
  Reduced, // along the dimension: carried
  Behind,  // needs what is carried
};

/// How many reductions along `dim` each statement depends on in a row, itself included.
std::vector<int> reductionDepths(const LoopProgram &program, int dim);

/// Whether every statement is one that can stand in a loop over chunks: no loop, scan or update.
bool canLoop(const LoopProgram &program);

/// The position of each statement in a loop over chunks of `dim`; empty where there is no such
/// loop: nothing is reduced along it, a result that is stored extends along it, or one reduction
/// along it needs another.
std::vector<LoopPosition> positionsInLoop(const LoopProgram &program, int dim);

/// The longest dimension that is reduced, where an unknown length counts as the longest; nothing
/// if there is none.
std::optional<int> longestReducedDim(const LoopProgram &program);

/// Whether splitReductions makes several of a program: reductions along `dim` need one another, or
/// results extend along it, so that there is no one loop over chunks.
bool canSplitReductions(const LoopProgram &program, int dim);

/// A loop program whose rows along `dim` are long and few as several, each with one loop over
/// chunks, or elementwise: softmax of one row is its maximum, its sum, and its elements, each of
/// which many workers share. `temporaries` counts the values between subkernels.
std::vector<Subkernel> splitReductions(const Subkernel &subkernel, int dim, int &temporaries);

} // namespace tw::conversion
