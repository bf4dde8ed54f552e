// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of elementwise operations: large enough that blocks of threads begin less often than
// memory could go on, small enough that all multiprocessors have many.
#pragma once
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "Target/NVIDIA/Architecture.h"

namespace tw::target::nvidia {

/// Makes the programs of a nest of loops, in which nothing is reduced or turned, larger.
void growPrograms(const conversion::LoopProgram &program,
                  conversion::LoopConfiguration &configuration,
                  const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
