// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop programs that reduce along a long dimension: a loop over chunks of it carries what is
// reduced, and says how the results of two parts combine, so workers may share it.
#pragma once
#include "Kernels/Describe.h"

namespace tw::kernels {

/// Where a step stands to a loop over chunks.
enum class ChunkPlace {
  Before,  // needs nothing of it
  InLoop,  // extends along the dimension
  Reduced, // along the dimension: carried
  Behind,  // needs what is carried, or writes memory
};

/// How often each step depends on a reduction along `dim`, itself included.
std::vector<int> reductionsBefore(const LoopProgram &program, int dim);

/// Whether every step is one that can stand in a loop over chunks: no loop, scan or update.
bool canLoop(const LoopProgram &program);

/// The place of each step in a loop over chunks of `dim`; empty where there is no such loop:
/// nothing is reduced along it, a result extends along it, or one reduction along it needs another.
std::vector<ChunkPlace> placesInChunks(const LoopProgram &program, int dim);

/// A piece whose rows are long and few as several, each with one loop over chunks, or elementwise:
/// softmax of one row is its maximum, its sum, and its elements, each of which many workers share.
/// Other pieces stay as they are. `temporaries` counts the values between pieces.
std::vector<Piece> cutLongRows(Piece piece, int &temporaries);

} // namespace tw::kernels
