// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of loop programs: elementwise nests, rows that are reduced, copies.
#pragma once
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "Target/NVIDIA/Architecture.h"

namespace tw::target::nvidia {

/// Large enough that blocks of threads begin less often than memory could go on, small enough that
/// all multiprocessors have some. A row that is reduced is a program.
conversion::LoopConfiguration choosePlainLoops(const conversion::LoopProgram &program,
                                               const GpuArchitecture &architecture);

/// The dimension along which few programs have long rows to reduce, which blocks of threads share:
/// by a loop over chunks, or in kernels of their own.
std::optional<int> sharedDim(const conversion::LoopProgram &program,
                             const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
