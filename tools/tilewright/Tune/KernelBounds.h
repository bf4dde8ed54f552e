// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels of a program would take at least on this machine: how much a search can find.
#pragma once
#include "Trial.h"
#include <optional>

namespace tw::cli {

/// Of all dispatches of a call by the kernels that were configured for them, as ProgramCosts has
/// them, in us: arithmetic or memory, whichever takes longer (Profile.h). Without those of which
/// that is not known, as on GPUs. Errors: no process can be had.
Result<std::map<std::vector<std::string>, double>>
boundsOf(const std::string &artifact, const KnownCall &call, const TrialOptions &options);

/// Of all that computes something of a kernel; nothing where it is not known.
std::optional<double> boundOf(const std::map<std::vector<std::string>, double> &bounds,
                              const std::string &kernel);

} // namespace tw::cli
