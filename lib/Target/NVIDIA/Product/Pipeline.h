// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a kernel's configuration that this target alone knows: `on <"nvidia" {...}>`.
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {

inline constexpr char schemaName[] = "nvidia";
inline constexpr char stagesField[] = "stages", warpGroupsField[] = "warp_groups",
                      pingPongField[] = "ping_pong", lateTriggerField[] = "late_trigger";

/// What a kernel's configuration says; the default where it says nothing.
PipelineConfiguration pipelineOf(tile::KernelOp kernel, const ProductShape &shape,
                                 const GpuArchitecture &architecture);

/// The number of a field of the target's own configuration; 0 where there is none.
int64_t pipelineField(tile::KernelOp kernel, llvm::StringRef name);

} // namespace tw::target::nvidia
