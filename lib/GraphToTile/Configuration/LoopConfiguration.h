// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the dimensions of a loop program are shared out: blocks of those that every result extends
// along are the grid, a program has all of the others, or walks along them in chunks.
#pragma once
#include "GraphToTile/Analysis/Subkernels/LoopProgram.h"
#include "Kernels/Configuration.h"

namespace tw::conversion {
using kernels::Constraint;
using kernels::Fields;

/// How one loop dimension is tiled.
struct LoopTiling {
  int64_t block = 0;    // elements a program takes; 0: all of them
  int64_t programs = 1; // how many programs one worker runs in a row, a hint
  int64_t chunk = 0;    // of one that is reduced: elements in a trip of a loop; 0: no loop
};

struct LoopConfiguration {
  std::vector<LoopTiling> tilings; // one for each dimension
  int64_t parts = 1;               // blocks that each of partDims is cut into
};

/// Its fields, "loops": `block`, `programs` and `chunk` are lists.
const ConfigurationSchema &loopSchema();
Fields fieldsOf(const LoopConfiguration &configuration);
LoopConfiguration loopsFrom(const Fields &fields, const LoopProgram &program);

/// What any target asks of a configuration of this program, over its fields.
std::vector<Constraint> loopConstraints(const LoopProgram &program);

} // namespace tw::conversion
