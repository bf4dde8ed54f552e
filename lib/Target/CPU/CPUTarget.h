// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/CPU/CpuFeatures.h"
#include "Target/Target.h"

namespace tw::target {

/// Tile programs (tile.kernel) as vector code.
std::unique_ptr<Target> createCPUTarget(const CpuFeatures &features);

} // namespace tw::target
