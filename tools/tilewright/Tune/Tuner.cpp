// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tuner.h"
#include "../Failure.h"
#include "../Machine.h"
#include "../Statistics.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "KernelBounds.h"
#include "KernelKeys.h"
#include "Tune/Priors.h"
#include "runtime/Artifact/Artifact.h"
#include "tools/tilewright/Compiler/CompilerLibrary.h"
#include "tools/tilewright/Program/Program.h"
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw::cli {
using tune::Point;
using tune::TimeRatio;

/// Kernels with less of the time are left as they are.
static constexpr double leastShare = 0.005;
/// The search ends here, so that there is time to measure the best again.
static constexpr double shareOfSearch = 0.8;

Tuner::Tuner(TuneOptions options, const TemporaryFolder &folder, std::function<bool()> goesOn)
    : options(std::move(options)), folder(folder), goesOn(std::move(goesOn)),
      begin(std::chrono::steady_clock::now()) {
  trial.threads = this->options.threads;
  // Of memory one call says everything.
  trial.pairs = this->options.objective == Objective::Memory ? 1 : this->options.pairs;
  trial.tolerances = this->options.tolerances;
  trial.reference = this->options.reference;
  trial.cores = coresOfCalls(trial.threads);
  if (!trial.cores.empty()) {
    std::vector<int> cores = usableCores();
    otherCores.assign(cores.begin() + ptrdiff_t(trial.cores.size()), cores.end());
  }
}

double Tuner::secondsSpent() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Tuner::say(const std::string &stage) {
  double done = shareDone();
  progress.at(stage + timeLeftText(secondsSpent(), done), done);
}

bool Tuner::hasTime(double shareOfBudget) const {
  return goesOn() && secondsSpent() < options.budgetSeconds * shareOfBudget;
}

double Tuner::shareDone() const {
  if (!options.exhaustiveWithin)
    return secondsSpent() / options.budgetSeconds;
  double least = 1; // of a kernel
  for (const TunedKernel &kernel : tuned)
    least = std::min(least,
                     1 - double(kernel.search.untriedCount()) / double(kernel.space.points.size()));
  return least;
}

double TunedKernel::shareOfBest() const {
  const tune::KernelSearch::Measured *best = search.bestConfirmed();
  return best ? best->ratio.median : 1;
}

std::optional<TimeRatio> TunedKernel::ratioOfChosen() const {
  const auto &all = search.measurements();
  auto found = std::ranges::find(all, space.chosen, &tune::KernelSearch::Measured::point);
  return found == all.end() ? std::nullopt : std::optional(found->ratio);
}

std::optional<double> TunedKernel::rooflineShare(bool isStart) const {
  double us = startUs * (chosen && !isStart ? ratio.median : 1);
  return boundUs && us > 0 ? std::optional(*boundUs / us) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Before the search
//===----------------------------------------------------------------------===//

int Tuner::prepare(std::vector<HostTensor> inputs) {
  if (!options.database.empty()) {
    auto opened = tune::Database::open(options.database);
    TW_TRY_CLI(opened);
    database = *std::move(opened);
  }
  progress.at("compiling the model as it is", 0);
  if (int status = openPrograms(std::move(inputs)))
    return status;
  if (int status = decide())
    return status;
  return readKernels();
}

int Tuner::openPrograms(std::vector<HostTensor> inputs) {
  startArtifact = folder.path() + "/start.so";
  std::string referenceArtifact = folder.path() + "/reference.so";
  if (int status = compileTo(options.model, startArtifact, folder))
    return status;
  if (int status = compileTo(asTarget(options.model, options.reference), referenceArtifact, folder))
    return status;
  auto known = knownCalls(referenceArtifact, startArtifact, inputs, trial, results.notes);
  TW_TRY_CLI(known);
  calls = *std::move(known);
  return 0;
}

SpaceQuery Tuner::spaceQuery(TunedCall call) const {
  const std::vector<std::string> &knobs = options.filter.knobs;
  return options.exhaustiveWithin
             ? SpaceQuery::ofAll(knobs, std::move(call), *options.exhaustiveWithin)
             : SpaceQuery::ofSearch(knobs, std::move(call), options.seed);
}

int Tuner::readKernels() {
  progress.at("looking for what can be changed", 0);
  auto start = rt::openArtifact(startArtifact);
  TW_TRY_CLI(start);
  int workers = options.threads ? options.threads : usableThreads();
  auto call = tunedCall(start->metadata, calls.front().inputs, workers);
  TW_TRY_CLI(call);
  call->addsForWorkers = options.addsForThreads;
  std::string text;
  if (int status = describeSpaces(options.model, spaceQuery(*call), folder, text))
    return status;
  auto spaces = readSpaces(text);
  TW_TRY_CLI(spaces);
  all = *std::move(spaces);
  TW_TRY_CLI(options.filter.check(all));
  // Against itself: what each kernel takes.
  auto self = runTrial(startArtifact, startArtifact, std::span(calls), trial);
  TW_TRY_CLI(self);
  if (!self->fault.empty())
    return fail({Code::TUNE_3,
                 fmt::format("the model as it is cannot be measured: {}", self->fault),
                 {},
                 {},
                 "tilewright check compares its results with the reference target's"});
  auto program = describeProgram(start->metadata);
  TW_TRY_CLI(program);
  return chooseKernels(*program, *self);
}

/// What an exhaustive search measures of a kernel, or why nothing.
static std::string coverageText(const TunableKernel &kernel, double costWithin) {
  const TunableKernel::Enumerated &all = *kernel.enumerated;
  if (!all.isComplete)
    return fmt::format("{} is left out: it has {} legal configurations or more", kernel.name,
                       all.legal);
  if (all.within == all.legal && !kernel.points.empty())
    return fmt::format("{}: all of its {} legal configurations are measured", kernel.name,
                       all.legal);
  std::string share = fmt::format("{} of its {} legal configurations", all.within, all.legal);
  if (std::isfinite(costWithin))
    share += fmt::format(", which cost at most {} times the least by the model,", costWithin);
  return kernel.points.empty()
             ? fmt::format("{} is left out: {} would have to be measured, more than {}",
                           kernel.name, share, SpaceQuery::mostEnumerated)
             : fmt::format("{}: {} are measured", kernel.name, share);
}

int Tuner::chooseKernels(const ProgramDescription &program, const TrialResult &self) {
  results.startUs = statistics(self.start.call).median;
  trial.seconds = int(30 + 20 * trial.pairs * finalPairs * results.startUs / 1e6);
  results.startBytes = self.start.bytes;
  bool isForTime = options.objective == Objective::Time;
  auto machine = machineText(program.target, options.threads);
  TW_TRY_CLI(machine);
  // Memory is the same on every machine, and no time.
  if (!isForTime)
    machine = fmt::format("memory; {} threads", options.threads);
  auto bounds = boundsOf(startArtifact, calls.front(), trial);
  TW_TRY_CLI(bounds);
  std::vector<std::string> coverage;
  for (size_t number = 0; number < all.size(); ++number) {
    const TunableKernel &kernel = all[number];
    std::vector<double> times = timesOf(self, kernel.name).second;
    double us = times.empty() ? 0 : statistics(times).median;
    bool isWanted = options.filter.takes(kernel);
    // What was fused into another kernel has that one's configuration.
    isWanted &= program.configured.contains(kernel.name);
    isWanted &= !options.addsForThreads || kernel.bound.workersAtLeast == options.threads;
    if (!isWanted || (isForTime && us < leastShare * results.startUs))
      continue;
    // One that has its start only has no choice.
    bool hasChoice = !kernel.points.empty() &&
                     (kernel.points.size() > 1 || kernel.points[0].point != kernel.start.point);
    if (kernel.enumerated && (hasChoice || kernel.points.empty()))
      coverage.push_back(coverageText(kernel, *options.exhaustiveWithin));
    if (!hasChoice)
      continue;
    tune::KernelSearch search(kernel.space, kernel.start, kernel.points, options.seed + number,
                              options.exhaustiveWithin ? tune::SearchMode::Exhaustive
                                                       : tune::SearchMode::Guided);
    // Where the search begins with something else, for another machine perhaps.
    if (kernel.space.contains(kernel.chosen))
      search.tryFirst(kernel.chosen);
    tuned.push_back({kernel,
                     std::move(search),
                     keyOf(kernel, program, *machine),
                     us,
                     {},
                     {},
                     isForTime ? boundOf(*bounds, kernel.name) : std::nullopt});
    numbers.push_back(number);
  }
  if (tuned.empty() && !coverage.empty())
    return fail(
        {Code::CLI_1,
         "no kernel of the model has few enough configurations to measure them all",
         {},
         coverage,
         "search fewer knobs (--knobs), or say with --exhaustive=FACTOR how many times the least "
         "cost configurations may cost by the model"});
  results.notes.insert(results.notes.end(), coverage.begin(), coverage.end());
  TW_TRY_CLI(startFromKnown());
  return 0;
}

Status Tuner::startFromKnown() {
  if (!database)
    return {};
  size_t known = 0;
  tune::DatabasePriors priors(*database);
  for (TunedKernel &kernel : tuned) {
    tune::RecordedKernel own{kernel.measured, descriptionOf(kernel.space), {}};
    TW_ASSIGN(tune::CorrectionPrior prior, priors.of(own));
    kernel.search.learnFrom(std::make_shared<tune::CorrectionPrior>(std::move(prior)));
    TW_TRY(database->describe(kernel.measured, own.description));
    TW_ASSIGN(std::vector<tune::Measurement> measurements, database->find(kernel.measured));
    for (const tune::Measurement &measurement : measurements)
      if (measurement.rejection.empty())
        kernel.search.record(measurement.point, measurement.ratio);
      else
        kernel.search.reject(measurement.point);
    known += measurements.size();
  }
  if (known > 0)
    results.notes.push_back(fmt::format("{} measurements come from {}", known, options.database));
  return {};
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

int Tuner::search() {
  if (options.modelOnly)
    return 0;
  std::future<Result<CandidateProgram>> ahead;
  // One trial at least: what was prepared for it may have taken all of a short budget.
  while (results.trials == 0 ? goesOn() : hasTime(shareOfSearch)) {
    say(fmt::format("trial {}", results.trials + 1));
    if (!ahead.valid())
      ahead = compileNext();
    auto candidate = ahead.get();
    TW_TRY_CLI(candidate);
    if (candidate->choice.empty())
      return 0;
    // Where calls do not need all cores, the others compile what comes next.
    if (!trial.cores.empty())
      ahead = compileNext();
    if (int status = tryOut(*candidate, /*isFinal=*/false))
      return status;
  }
  return 0;
}

std::future<Result<CandidateProgram>> Tuner::compileNext() {
  Choice choice; // of the kernels in `tuned`
  // Times of kernels are told apart. Memory is not: they take turns.
  bool isForAll = options.objective == Objective::Time;
  for (size_t i = 0; i < tuned.size() && (isForAll || choice.empty()); ++i) {
    size_t kernel = isForAll ? i : turn++ % tuned.size();
    if (auto point = tuned[kernel].search.next())
      choice.emplace(kernel, *std::move(point));
  }
  // The one before it may still run.
  std::string name = fmt::format("next{}", ++compiled % 2);
  auto compileIt = [this, name, choice = std::move(choice)]() -> Result<CandidateProgram> {
    if (choice.empty())
      return CandidateProgram();
    if (!otherCores.empty())
      stayOn(otherCores); // this thread, and the compiler that it starts
    return compile(choice, name);
  };
  return std::async(trial.cores.empty() ? std::launch::deferred : std::launch::async,
                    std::move(compileIt));
}

Result<CandidateProgram> Tuner::compile(const Choice &choice, const std::string &name) const {
  Choice ofAll;
  for (const auto &[kernel, point] : choice)
    ofAll.emplace(numbers[kernel], point);
  TW_ASSIGN(CandidateProgram made,
            compileCandidate(options.model,
                             configurationText(all, ofAll, results.decisions.decisions()), folder,
                             name));
  made.choice = choice;
  if (made.refusal.empty()) {
    TW_ASSIGN(made.refusal, missingCode(made.artifact, choice));
  }
  return made;
}

/// Why the calls that are measured would not run what `choice` says; empty if they do.
Result<std::string> Tuner::missingCode(const std::string &artifact, const Choice &choice) const {
  TW_ASSIGN(rt::Artifact program, rt::openArtifact(artifact));
  for (const auto &[number, point] : choice) {
    const TunableKernel &kernel = tuned[number].space;
    auto isIn = [&](const rt::VariantInfo &variant) {
      return variant.workersAtLeast > 0 ? variant.workersAtLeast == kernel.bound.workersAtLeast
                                        : variant.sizeAtMost == kernel.bound.atMost;
    };
    for (const rt::DispatchInfo &dispatch : program.metadata.dispatches)
      if (!kernel.bound.isForAll() && dispatch.configuredAs() == kernel.name &&
          std::ranges::none_of(dispatch.variants, isIn))
        return std::string("its variant is left out: compile --report says why");
  }
  return std::string();
}

/// On the way only the results with the inputs as given are looked at.
Result<TrialResult> Tuner::run(const std::string &artifact, bool isFinal) const {
  TrialOptions own = trial;
  own.pairs *= isFinal ? finalPairs : 1;
  return runTrial(startArtifact, artifact, std::span(calls).first(isFinal ? calls.size() : 1), own);
}

static TimeRatio ratioOfBytes(const TrialResult &result) {
  double ratio = double(result.candidate.bytes) / double(std::max<int64_t>(result.start.bytes, 1));
  return {ratio, ratio, ratio};
}

TimeRatio Tuner::ratioOfCall(const TrialResult &result) const {
  return options.objective == Objective::Memory
             ? ratioOfBytes(result)
             : tune::compareTimes(result.candidate.call, result.start.call);
}

TimeRatio Tuner::ratioOf(const TunedKernel &kernel, const TrialResult &result) const {
  auto [candidate, start] = timesOf(result, kernel.space.name);
  return options.objective == Objective::Memory ? ratioOfBytes(result)
                                                : tune::compareTimes(candidate, start);
}

int Tuner::tryOut(const CandidateProgram &candidate, bool isFinal) {
  ++results.trials;
  std::string fault = candidate.refusal;
  if (fault.empty()) {
    auto result = run(candidate.artifact, isFinal);
    TW_TRY_CLI(result);
    if (result->isInterrupted || !goesOn())
      return 0;
    fault = result->fault;
    if (fault.empty()) {
      record(candidate.choice, *result);
      return 0;
    }
  }
  const Choice &choice = candidate.choice;
  if (choice.size() == 1) {
    reject(choice.begin()->first, choice.begin()->second, fault);
    return 0;
  }
  auto middle = std::next(choice.begin(), ptrdiff_t(choice.size() / 2));
  for (const Choice &half : {Choice(choice.begin(), middle), Choice(middle, choice.end())}) {
    auto program = compile(half, "half");
    TW_TRY_CLI(program);
    if (int status = tryOut(*program, isFinal))
      return status;
  }
  return 0;
}

void Tuner::record(const Choice &choice, const TrialResult &result) {
  for (const auto &[number, point] : choice) {
    TunedKernel &kernel = tuned[number];
    auto [candidate, start] = timesOf(result, kernel.space.name);
    if (candidate.empty() || start.empty()) {
      reject(number, point, "nothing of it has run");
      continue;
    }
    TimeRatio ratio = ratioOf(kernel, result);
    kernel.search.record(point, ratio);
    remember(kernel, {point, kernel.search.costOf(point), "", ratio, int64_t(start.size()),
                      statistics(start).median, int64_t(std::time(nullptr))});
  }
}

void Tuner::reject(size_t number, const Point &point, const std::string &why) {
  TunedKernel &kernel = tuned[number];
  kernel.search.reject(point);
  results.notes.push_back(
      fmt::format("{}: rejected {}: {}", kernel.space.name, tune::pointText(point), why));
  remember(kernel,
           {point, kernel.search.costOf(point), why, {}, 0, 0, int64_t(std::time(nullptr))});
}

void Tuner::remember(const TunedKernel &kernel, const tune::Measurement &measurement) {
  if (!database)
    return;
  Status added = database->add(kernel.measured, measurement);
  if (added)
    return;
  // What was found is worth more than its record.
  results.notes.push_back("measurements are no longer kept: " + added.error().message);
  database.reset();
}

} // namespace tw::cli
