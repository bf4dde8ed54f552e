// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the dimensions of a loop program are shared out: blocks of those that every result extends
// along are the grid, a program has all of the others, or walks along them in chunks.
#pragma once
#include "GraphToTile/Analysis/LoopProgram.h"
#include "Kernels/Constraint.h"

namespace tw::conversion {
using kernels::Constraint;

/// How one loop dimension is tiled.
struct LoopTiling {
  int64_t block = 0;    // elements a program takes; 0: all of them
  int64_t programs = 1; // how many programs one worker runs in a row, a hint
  int64_t chunk = 0;    // of one that is reduced: elements in a trip of a loop; 0: no loop
  int alignedWith =
      -1; // cut into as many blocks as this other one, along the same axis of the grid
};

struct LoopConfiguration {
  std::vector<LoopTiling> tilings; // one for each dimension
  int64_t parts = 1;               // blocks that each of partDims is cut into
};

/// Dimensions that every store extends along and no statement reduces: those that may be cut.
std::vector<bool> parallelDims(const LoopProgram &program);

/// Dimensions of parts that are stored beside each other along one axis of a tensor, as those of a
/// concatenation are: one for each store. They may be cut, each into as many blocks as the others.
std::vector<int> partDims(const LoopProgram &program);

/// The dimension along which few programs have long rows to reduce, worth the work of several
/// workers each; nothing if there is none, or a loop over chunks (SplitReductions.h) would not pay.
std::optional<int> longDim(const LoopProgram &program);

/// Constraints on a configuration of this program: over `block_0`, `programs_0` and `chunk_0` of
/// dimension 0, and so on, and `parts`.
std::vector<Constraint> loopConstraints(const LoopProgram &program);
bool isLegal(const LoopProgram &program, const LoopConfiguration &configuration);

/// The configuration by the cost model: programs of some thousand elements, the innermost
/// dimension in whole vectors.
LoopConfiguration chooseLoops(const LoopProgram &program);

} // namespace tw::conversion
