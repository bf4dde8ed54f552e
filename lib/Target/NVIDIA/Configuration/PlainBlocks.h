// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of what the tensor cores do not take: a program is one block of threads, of which each has
// a part of the results (docs/nvidia-target.md, "The plain lowering").
#pragma once
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "Target/NVIDIA/Architecture.h"

namespace tw::target::nvidia {

/// What the target asks of a product or a convolution of the plain lowering beside what any target
/// does, over the configuration's fields; nothing of other kernels.
std::vector<kernels::Constraint> plainConstraints(const conversion::Subkernel &subkernel);

/// Rows up to which a product of the plain lowering may have a block of its own, ascending: few
/// rows are computed in small ones, which are programs for more multiprocessors.
inline constexpr int64_t plainVariants[] = {1, 2, 4, 6, 16, 64};

/// Outputs of a panel of weights that are transformed for Winograd's algorithm: two warps read a
/// row of it side by side.
inline constexpr int64_t panelOutputs = 64;

/// When workers share a loop with `combine`: a launch of fewer programs leaves multiprocessors
/// without any, and a part does so much work that a second launch is little beside it.
constexpr conversion::SplitLimits splitLimits(const GpuArchitecture &architecture) {
  return {.enoughPrograms = architecture.multiprocessors,
          .wantedPrograms = 4 * architecture.multiprocessors,
          .leastWork = 1 << 16,
          .partsOfUnknown = 16,
          .loadWork = 1,
          .mostWrittenOut = 16};
}

} // namespace tw::target::nvidia
