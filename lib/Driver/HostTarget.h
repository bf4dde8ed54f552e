// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/Target.h"

namespace tw {

/// The `cpu` target as models are compiled for it: tile programs by Target/CPU, the functions that
/// no kernel covers by Target/Reference.
std::unique_ptr<target::Target> createHostTarget(const target::CpuFeatures &features);

} // namespace tw
