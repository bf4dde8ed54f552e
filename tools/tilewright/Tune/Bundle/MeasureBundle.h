// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright tune --measure=BUNDLE.
#pragma once
#include "tools/tilewright/Program/Expected.h"
#include <functional>
#include <optional>
#include <string>

namespace tw::cli {

/// Measures all programs of a bundle that have not been measured here yet, and keeps the times in
/// its database. `timeout`: seconds after which a program is given up, as CandidateLimits.h
/// has it. `goesOn` is asked between programs. Returns an exit status; errors have been printed.
int measureBundle(const std::string &folder, const ToleranceOptions &tolerances,
                  std::optional<int> timeout, bool json, const std::function<bool()> &goesOn);

} // namespace tw::cli
