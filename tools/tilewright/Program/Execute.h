// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call on an instance, from host tensors to host tensors.
#pragma once
#include "IO/HostTensor.h"
#include "tilewright/tilewright.h"
#include <span>
#include <vector>

namespace tw::cli {

/// Runs once; the results stay in the instance. An input that the program mutates is changed.
Status execute(tw_instance *instance, std::span<HostTensor> inputs);

/// Copies of the results of the last run, one per output.
Result<std::vector<HostTensor>> takeOutputs(const tw_program *program, tw_instance *instance);

} // namespace tw::cli
