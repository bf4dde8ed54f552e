// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operations, broadcasts, transposes and reductions, any number of them in one kernel:
// from a copy to softmax and all normalisations. A program has blocks of the dimensions that every
// result extends along, and all of the others, which are reduced.
#pragma once
#include "Kernels/Constraint.h"
#include "Kernels/Steps.h"
#include "Kernels/Writer.h"

namespace tw::kernels {

struct RowsConfiguration {
  std::vector<Walk> walks; // one for each dimension
  int64_t parts = 1;       // blocks that each of partDims is cut into
};

/// Dimensions that every store extends along and no step reduces: those that may be cut.
std::vector<bool> parallelDims(const LoopProgram &program);

/// Dimensions of parts that are stored beside each other along one axis of a tensor, as those of a
/// concatenation are: one for each store. They may be cut, each into as many blocks as the others.
std::vector<int> partDims(const LoopProgram &program);

/// The dimension along which few programs have long rows to reduce, worth the work of several
/// workers each; nothing if there is none, or a loop over chunks (Chunks.h) would not pay.
std::optional<int> longDim(const LoopProgram &program);

/// Constraints on a configuration of this program: over `block_0`, `programs_0` and `chunk_0` of
/// the walk over dimension 0, and so on, and `parts`.
std::vector<Constraint> rowsConstraints(const LoopProgram &program);
bool isLegal(const LoopProgram &program, const RowsConfiguration &configuration);

/// The configuration by the cost model: programs of some ten thousand elements, the innermost
/// dimension in whole vectors.
RowsConfiguration chooseRows(const LoopProgram &program);

/// The kernel; to be called while it is traced.
void writeRows(const LoopProgram &program, const RowsConfiguration &configuration);

} // namespace tw::kernels
