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

/// What a call changes for the next one, put back: state, and inputs that the program writes to.
class Restore {
public:
  /// Of a program whose inputs are as they are now.
  Restore(const tw_program *program, std::span<const HostTensor> inputs);
  Status apply(tw_instance *instance, std::span<HostTensor> inputs) const;

private:
  std::vector<std::string> names;
  std::vector<std::pair<size_t, std::vector<std::byte>>> values; // of inputs
};

/// One call, in us; before it, and not timed, `restore` is applied if there is one.
Result<double> timeOnce(tw_instance *instance, std::span<HostTensor> inputs,
                        const Restore *restore);

/// What else is done, and not timed.
struct BesideCalls {
  std::function<Status()> warm;  // once, when calls are warm, before those that are measured
  std::function<void()> between; // after each of them
};

/// Warms up for a tenth of the time (at least two calls), then measures: `repeat` calls, or else
/// for minTime seconds and at least ten calls. Gives the time of each in us. Errors: those of the
/// calls, and of `also.warm`.
Result<std::vector<double>> measureCalls(const tw_program *program, tw_instance *instance,
                                         std::span<HostTensor> inputs,
                                         const MeasureOptions &options,
                                         const BesideCalls &also = {});

} // namespace tw::cli
