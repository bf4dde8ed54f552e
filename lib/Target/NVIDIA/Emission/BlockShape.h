// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a block of the plain lowering: those of one program, or of several programs side
// by side, each of which has a warp of its own and waits for nobody else.
#pragma once
#include "Target/NVIDIA/Architecture.h"
#include "Target/NVIDIA/Emission/Width.h"

namespace tw::target::nvidia {

struct BlockShape {
  int64_t threads = 0;  // of a program
  int64_t programs = 1; // side by side

  int64_t allThreads() const { return threads * programs; }
};

/// Whether the registers of so many threads hold all tiles of a program.
bool areHeldBy(const Width &width, int64_t threads);

/// `programs`: of the kernel, where they are known.
BlockShape blockShapeFor(const Width &width, std::optional<int64_t> programs,
                         const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
