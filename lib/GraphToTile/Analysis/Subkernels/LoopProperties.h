// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What whoever tiles a loop program asks of it.
#pragma once
#include "GraphToTile/Analysis/Subkernels/LoopProgram.h"

namespace tw::conversion {

/// What is stored, in order, but for a scatter's updates.
std::vector<const Access *> storesOf(const LoopProgram &program);

bool hasUpdates(const LoopProgram &program);
/// Whether this is the access of a scatter's updates.
bool isUpdate(const LoopProgram &program, const Access &access);
/// Whether elements are only moved: nothing is kept for all of a dimension.
bool isCopy(const LoopProgram &program);

/// Dimensions that are only run along element by element.
std::vector<bool> foldedDims(const LoopProgram &program);
/// Dimensions that every store extends along and no statement reduces: those that may be cut.
std::vector<bool> parallelDims(const LoopProgram &program);
/// Dimensions of parts that are stored beside each other along one axis of a tensor, as those of a
/// concatenation are: one for each store. They may be cut, each into as many blocks as the others.
std::vector<int> partDims(const LoopProgram &program);

} // namespace tw::conversion
