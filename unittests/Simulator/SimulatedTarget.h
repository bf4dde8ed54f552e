// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/Target.h"

namespace tw::simulator {

/// The nvidia target's kernels behind the interface of the cpu target's (docs/contracts.md, "Target
/// level"), for this process: an iteration is a block, which is simulated. So what tests compiled
/// kernels tests these, too. Aborts the process where the simulator finds a fault.
///
/// TW_SIMULATOR_ORDER=backwards runs the threads of a block from the last to the first.
std::unique_ptr<target::Target> createSimulatedTarget();

} // namespace tw::simulator
