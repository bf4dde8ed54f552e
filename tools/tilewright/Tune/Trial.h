// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One candidate program against the program that a search began with: first whether its results are
// right, then how long both take, in turns, in a process of their own.
#pragma once
#include "IO/HostTensor.h"
#include "Support/Diagnostic.h"
#include "Tune/Comparison.h"
#include "tools/tilewright/Program/CallResults.h"
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::cli {

/// Inputs, and what a program has to make of them.
struct KnownCall {
  std::string what; // "as given", "zeros", ...
  std::vector<HostTensor> inputs;
  std::vector<CallResult> expected;
};

struct TrialOptions {
  std::string reference = "reference"; // the target whose results are right
  int threads = 0;
  int pairs = 7; // of timed calls, more of short ones; 0: nothing is timed
  /// After which the candidate is given up; empty: never, for what is no candidate but the model as
  /// it is.
  std::optional<int> seconds = {};
  std::vector<int> cores = {}; // that it may use; empty: all
  ToleranceOptions tolerances = {};
};

/// Times in us, one for each timed call, and memory.
struct ProgramCosts {
  /// On the CPU all of it; on a GPU the sum of its dispatches, for copies of inputs are the
  /// bench's.
  std::vector<double> call;
  /// Of dispatches, by the kernels that were configured for what they compute: several where they
  /// were fused.
  std::map<std::vector<std::string>, std::vector<double>> dispatches;
  /// Of weights, temporaries at their peak, outputs and state.
  int64_t bytes = 0;
};

struct TrialResult {
  ProgramCosts start, candidate;
  std::string fault;          // why the candidate cannot be kept; then nothing was timed
  bool isInterrupted = false; // by a signal to this process: nothing is known of the candidate
};

/// What a kernel takes in both, candidate first: the dispatches that compute something of it, and
/// of whatever one of the programs fuses with it, so that both have computed the same. Empty where
/// there are none.
std::pair<std::vector<double>, std::vector<double>> timesOf(const TrialResult &result,
                                                            const std::string &kernel);

/// Errors: no process can be had. Whatever the candidate does is no error but its fault: it
/// crashes, takes longer than `seconds` or, on the CPU, more memory than there is, gives results
/// other than expected, or two different ones.
Result<TrialResult> runTrial(const std::string &start, const std::string &candidate,
                             std::span<const KnownCall> calls, const TrialOptions &options);

/// Whether the machine has changed, by what a call of one program took before and after a search;
/// 0: nothing was measured then. Empty: it has not.
std::string driftText(double beforeUs, double afterUs);

/// What is to be said of two comparisons of the same programs that contradict each other; empty:
/// they do not.
std::string disagreementText(const tune::TimeRatio &before, const tune::TimeRatio &after);

/// What is to be said where a kernel reaches `share` of the roofline, more than there can be;
/// empty: nothing.
std::string rooflineText(double share);

/// What is to be said of calls on the CPU with more threads than may run at once; empty: nothing.
std::string threadsText(int threads);

/// The cores that calls with so many threads stay on; empty where they need all, as with 0. What
/// calls a GPU needs one.
std::vector<int> coresOfCalls(int threads);
/// What measurements of programs for `target` with so many threads are of: the CPU's name and
/// features, and the GPU's name. Of another machine they say nothing. Errors: no process can be
/// had.
Result<std::string> machineText(const std::string &target, int threads);

/// "the reference target", for messages.
std::string referenceText(const TrialOptions &options);

/// A tensor of the same elements.
Result<HostTensor> copyOf(const HostTensor &tensor);
Result<std::vector<HostTensor>> copyOf(std::span<const HostTensor> tensors);

} // namespace tw::cli
