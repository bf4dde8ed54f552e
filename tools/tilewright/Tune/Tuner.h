// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for better configurations of a model's kernels (docs/tuning.md). The model itself is
// the bench: each candidate program has another configuration of every kernel that is searched, and
// is run beside the compiler's choice, so that all are measured at once and where they work.
#pragma once
#include "../Progress.h"
#include "CompileCandidate.h"
#include "Decisions.h"
#include "FoundKernel.h"
#include "KernelKeys.h"
#include "KernelSpaces.h"
#include "SeveralThreads.h"
#include "Trial.h"
#include "Tune/Database.h"
#include "tools/tilewright/Tune/Bundle/KnownCalls.h"
#include <chrono>
#include <functional>
#include <future>
#include <optional>

namespace tw::cli {

/// What is to become less.
enum class Objective { Time, Memory };

struct TuneOptions {
  ModelOptions model;
  std::string reference = "reference"; // the target whose results are right
  Objective objective = Objective::Time;
  double budgetSeconds = 600;
  std::optional<size_t> budgetCandidates = {}; // programs that the search may try
  std::optional<int> timeout = {};             // seconds; CandidateLimits.h says what it is without
  int threads = 0, pairs = 7;
  /// Calls with fewer threads are to run what they run now: only variants for so many are searched.
  bool addsForThreads = false;
  uint64_t seed = 0;
  KernelFilter filter = {};
  bool searchesDecisions = true; // about operators, too
  bool modelOnly = false;        // nothing is searched: what the database knows is tried together
  /// All configurations are measured, that cost at most so many times the least by the model.
  std::optional<double> exhaustiveWithin = {};
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
  tune::TimeRatio ratio;         // of what is chosen, by the objective
  std::optional<double> boundUs; // what that would take at least (KernelBounds.h)

  /// How fast the start is in terms of the best that was found; at most 1.
  double shareOfBest() const;
  /// Of what the target's model chooses, where the search has begun with something else and has
  /// measured it.
  std::optional<tune::TimeRatio> ratioOfChosen() const;
  /// Of the roofline: what the bound leaves of the time with what is chosen, or of the start's.
  std::optional<double> rooflineShare(bool isStart) const;
};

/// What came of it.
struct TuneReport {
  double startUs = 0; // of a call of the model, as it was
  double endUs = 0;   // of the same program when the search was over; 0: nothing was measured then
  int64_t startBytes = 0;                // of the model as it was: Trial.h says of what
  tune::TimeRatio ratio = {1, 1, 1};     // of all that is chosen together, by the objective
  tune::TimeRatio timeRatio = {1, 1, 1}; // the same by time
  /// What is written in terms of the compiler's own choice, if it is something else.
  std::optional<tune::TimeRatio> ofCompilers = {};
  DecisionReport decisions; // of what is searched before the kernels are
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

  /// Then: what calls with these numbers of threads take, with what was found.
  int measureThreads(std::span<const int> numbers, std::vector<CallOfThreads> &measured);
  /// Nothing of what was found stays. `why`: "it is slower than", for a note.
  void keepCompilers(const std::string &why);

  const std::vector<TunedKernel> &kernels() const { return tuned; }
  const TuneReport &report() const { return results; }
  const TuneOptions &asked() const { return options; }
  /// All kernels of the model, and which configuration each gets; and the decisions that differ
  /// from the compiler's.
  std::vector<FoundKernel> found() const;
  std::vector<Decision> foundDecisions() const;

private:
  /// How often a candidate is measured: so many times the pairs. From finalEffort on it is compared
  /// on all inputs, too; before, on those that were given.
  using Effort = int;
  static constexpr Effort firstEffort = 1, finalEffort = 3;

  std::optional<tune::Point> finalPoint(size_t number) const;
  int openPrograms(std::vector<HostTensor> inputs);
  /// Tries the alternatives to what the compiler decides about operators; the search of kernels
  /// begins with what is kept.
  int decide();
  int tryAlternatives(const std::vector<Decision> &made);
  int readKernels();
  SpaceQuery spaceQuery(TunedCall call) const;
  /// What each kernel takes decides which are searched; `program` is the one without changes.
  int chooseKernels(const ProgramDescription &program, const TrialResult &self);
  Status startFromKnown();
  /// Until nothing is left that is worth it, or the budget is spent. Errors: those after which no
  /// other candidate could be tried, such as a full disk.
  Status searchKernels();
  using Compilation = std::future<Result<CandidateProgram>>;
  /// Asks each search for its next point and compiles them, beside this thread where cores are
  /// left; not valid if no search has one.
  Compilation compileNext();
  /// How many candidates are compiled beside the one that is measured.
  size_t mostAhead() const;
  Result<CandidateProgram> compile(const Choice &choice, const std::string &name) const;
  Result<std::string> missingCode(const std::string &artifact, const Choice &choice) const;
  /// Runs a candidate; what cannot be kept of it is found by halves, and rejected. Nothing is if a
  /// signal came meanwhile: it may be what has ended the candidate. Errors: as of searchKernels.
  Status tryOut(const CandidateProgram &candidate, Effort effort);
  Result<TrialResult> run(const std::string &artifact, Effort effort) const;
  /// By the objective. Of memory no kernel has its own: plans are made for all of them.
  tune::TimeRatio ratioOfCall(const TrialResult &result) const;
  tune::TimeRatio ratioOf(const TunedKernel &kernel, const TrialResult &result) const;
  /// What may be the best of each kernel, in rounds of ever fewer candidates and more pairs.
  Status measureAgain();
  void record(const Choice &choice, const TrialResult &result);
  void reject(size_t kernel, const tune::Point &point, const std::string &why);
  /// In the database, as long as it can be written.
  void remember(const tune::MeasuredKernel &kernel, const tune::Measurement &measurement);
  /// What trials of decisions are known by, but for what is decided; `made`: by the start.
  Result<tune::MeasuredKernel> keyOfDecisions(const rt::Metadata &program,
                                              const std::vector<Decision> &made) const;
  /// Adds to what is kept what of `choice` is faster beside the others, too, and makes the whole
  /// call no slower: all of it, or what is found by halves.
  int keep(const Choice &choice);
  /// What the measurements say of the machine, and not of the model.
  void noteDrift();
  /// Where what is kept is no faster than the compiler's own choice, that is kept.
  int compareWithCompilers();
  /// What is decided otherwise with all that is kept: other configurations fuse other kernels.
  int readDecisions();
  /// The compiler's own choice of everything, and what is kept, by the spec that says it.
  int compileFound(ModelOptions model, std::string &compilers, std::string &found) const;
  Result<TrialResult> compareFound(const std::string &compilers, const std::string &found,
                                   int threads) const;
  int runTogether(const Choice &choice, TrialResult &result);
  bool hasTime(double shareOfBudget) const;
  bool hasCandidatesLeft() const;
  /// After how many seconds a candidate is given up.
  int secondsOfTrial(const TrialResult &self) const;
  /// How much of the search is done, by its budget or its points.
  double shareDone() const;
  double secondsSpent() const;
  /// Says what is being done, and how long the rest takes.
  void say(const std::string &stage);

  TuneOptions options;
  const TemporaryFolder &folder;
  std::function<bool()> goesOn;
  std::chrono::steady_clock::time_point begin;
  /// By the compiler itself; and, where the search began with something else, what is decided
  /// otherwise in the program that is kept so far.
  std::vector<Decision> compilersDecisions, decided;
  std::vector<TunableKernel> all; // of the model
  std::vector<TunedKernel> tuned;
  std::vector<size_t> numbers; // of `tuned` in `all`
  Choice kept;                 // of `tuned`
  bool keepsCompilers = false; // the choice of everything
  std::vector<KnownCall> calls;
  std::optional<tune::Database> database;
  bool isDatabaseNew = true; // it had no measurement when it was opened
  std::string startArtifact;
  TrialOptions trial;
  int compileSeconds = 0;        // after which a candidate is given up
  std::vector<int> otherCores;   // than those that trials use
  size_t compiled = 0, turn = 0; // of what is compiled; whose turn it is
  TuneReport results;
  Progress progress;
};

} // namespace tw::cli
