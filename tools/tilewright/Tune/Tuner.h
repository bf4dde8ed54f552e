// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for better configurations of a model's kernels (docs/tuning.md). The model itself is
// the bench: each candidate program has another configuration of every kernel that is searched, and
// is run beside the compiler's choice, so that all are measured at once and where they work.
#pragma once
#include "../Progress.h"
#include "KernelSpaces.h"
#include "KnownCalls.h"
#include "Trial.h"
#include "Tune/Database.h"
#include <chrono>
#include <functional>
#include <optional>

namespace tw::cli {

struct TuneOptions {
  ModelOptions model;
  double budgetSeconds = 600;
  int threads = 0, pairs = 7;
  uint64_t seed = 0;
  std::vector<std::string> kernels; // only these; empty: all
  std::string database;
  ToleranceOptions tolerances = {};
};

/// A kernel before and after.
struct TunedKernel {
  TunableKernel space;
  tune::KernelSearch search;
  tune::MeasuredKernel measured; // its key in the database
  double startUs = 0;            // of all its calls in a call of the model
  std::optional<tune::Point> chosen;
  tune::TimeRatio ratio; // of what is chosen
};

/// What came of it.
struct TuneReport {
  double startUs = 0;    // of a call of the model, as it was
  tune::TimeRatio ratio; // of all that is chosen together
  bool isInterrupted = false;
  size_t trials = 0;
  std::vector<std::string> notes;
};

class Tuner {
public:
  /// `folder` is for temporary files. `goesOn` is asked between trials; false ends the search with
  /// what there is.
  Tuner(TuneOptions options, const TemporaryFolder &folder, std::function<bool()> goesOn);

  /// All three in order; each returns an exit status, errors have been printed.
  int prepare(std::vector<HostTensor> inputs);
  int search();
  /// Measures the best few of each kernel again, and what is best together.
  int choose();

  const std::vector<TunedKernel> &kernels() const { return tuned; }
  const TuneReport &report() const { return results; }
  /// The configuration file of what is chosen.
  std::string configuration() const;

private:
  int openPrograms(std::vector<HostTensor> inputs);
  int readKernels();
  Status startFromKnown();
  /// Compiles and runs a choice, with all inputs if it `isFinal`; what cannot be kept of it is
  /// found by halves, and rejected.
  int tryOut(const Choice &choice, bool isFinal);
  Result<TrialResult> run(const std::string &artifact, bool isFinal) const;
  int compileChoice(const Choice &choice, std::string &artifact, bool &isCompiled);
  Status record(const Choice &choice, const TrialResult &result);
  Status reject(size_t kernel, const tune::Point &point, const std::string &why);
  int runChosen(TrialResult &result);
  bool hasTime(double shareOfBudget) const;
  double secondsSpent() const;

  TuneOptions options;
  const TemporaryFolder &folder;
  std::function<bool()> goesOn;
  std::chrono::steady_clock::time_point begin;
  std::vector<TunableKernel> all; // of the model
  std::vector<TunedKernel> tuned;
  std::vector<size_t> numbers; // of `tuned` in `all`
  std::vector<KnownCall> calls;
  std::optional<tune::Database> database;
  std::string startArtifact;
  TrialOptions trial;
  TuneReport results;
  Progress progress;
};

} // namespace tw::cli
