// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls in a row, timed: for commands that say how long something takes.
#pragma once
#include "IO/HostTensor.h"
#include "tilewright/tilewright.h"
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tw::cli {

struct MeasureOptions {
  int threads = 0, repeat = 0;
  double minTime = 1; // seconds
  std::string state = "reset";

  /// Adds --threads, --min-time, --repeat and --state.
  void addTo(CLI::App &command);
};

/// Warms up for a tenth of the time (at least two calls), then measures: `repeat` calls, or else
/// for minTime seconds and at least ten calls. Gives the time of each in us. `warm` is called
/// between the two. Errors: those of the calls, and of `warm`.
Result<std::vector<double>> measureCalls(const tw_program *program, tw_instance *instance,
                                         std::span<HostTensor> inputs,
                                         const MeasureOptions &options,
                                         const std::function<Status()> &warm = {});

} // namespace tw::cli
