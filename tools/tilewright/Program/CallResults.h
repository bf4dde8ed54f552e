// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls of a program leave, to be compared with what another program leaves.
#pragma once
#include "Expected.h"
#include "IO/HostTensor.h"
#include "tilewright/tilewright.h"
#include <span>
#include <string>
#include <vector>

namespace tw::cli {

/// What a call leaves: an output, the new value of an input, or of state.
struct CallResult {
  const char *kind;
  std::string name;
  HostTensor value;
};

/// Runs once and takes outputs, then inputs that the program writes to, then state that it may
/// change.
Result<std::vector<CallResult>> runForResults(const tw_program *program, tw_instance *instance,
                                              std::vector<HostTensor> inputs);

/// Every result against that of another program of the same model.
Result<std::vector<OutputComparison>> compareResults(std::span<const CallResult> results,
                                                     std::span<const CallResult> wanted,
                                                     const std::string &against,
                                                     const ToleranceOptions &tolerances);

} // namespace tw::cli
