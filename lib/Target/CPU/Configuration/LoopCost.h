// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of loop programs for the cpu target.
#pragma once
#include "GraphToTile/Configuration/LoopConfiguration.h"

namespace tw::target::cpu {
using conversion::LoopConfiguration;
using conversion::LoopProgram;

/// Programs of some thousand elements, the innermost dimension in whole vectors.
LoopConfiguration chooseLoops(const LoopProgram &program);

/// The dimension along which few programs have long rows to reduce, worth the work of several
/// workers each; nothing if there is none, or a loop over chunks (SplitReductions.h) would not pay.
std::optional<int> longDim(const LoopProgram &program);

} // namespace tw::target::cpu
