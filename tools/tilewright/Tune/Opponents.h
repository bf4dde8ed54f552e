// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A candidate and the program that a search began with, loaded side by side and called in turns.
#pragma once
#include "Trial.h"
#include "tools/tilewright/Program/Measure.h"
#include "tools/tilewright/Program/Program.h"

namespace tw::cli {

/// A loaded program that is called over and over.
class Runner {
public:
  static Result<Runner> load(const std::string &artifact, std::span<const HostTensor> inputs,
                             int threads);

  bool isOnGpu() const;
  Status warmUp();
  /// After a call: before, there is no plan.
  int64_t bytes() const;
  /// One call, of which `times` gets everything.
  Status time(ProgramCosts &times);

private:
  ProgramPtr program;
  InstancePtr instance;
  std::vector<HostTensor> inputs;
  std::optional<Restore> restore;
};

class Opponents {
public:
  /// Loads both and calls them once. Again: in the other order, so that each gets the places of the
  /// other.
  Status load(const std::string &start, const std::string &candidate,
              std::span<const HostTensor> inputs, int threads);
  /// Whether both are to be loaded again before a pair of calls with this number. Where the code
  /// and data of a program lie is the same for all of its calls, and makes a hundredth of what
  /// short kernels take: of one place there are no more than some pairs.
  bool areToBeLoaded(int pair) const;
  /// One call of each. Whoever is second finds the caches as the first has left them.
  Status time(bool isCandidateFirst, TrialResult &result);
  void readBytes(TrialResult &result) const;

private:
  std::optional<Runner> incumbent, challenger;
  bool isCandidateLoadedFirst = false;
};

} // namespace tw::cli
