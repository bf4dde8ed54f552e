// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tuner.h"
#include "../Failure.h"
#include "../Machine.h"
#include "../Statistics.h"
#include "CandidateLimits.h"
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

Tuner::Tuner(TuneOptions options, const TemporaryFolder &folder, std::function<bool()> goesOn)
    : options(std::move(options)), folder(folder), goesOn(std::move(goesOn)),
      begin(std::chrono::steady_clock::now()) {
  trial.threads = this->options.threads;
  // Of memory one call says everything.
  trial.pairs = this->options.objective == Objective::Memory ? 1 : this->options.pairs;
  trial.tolerances = this->options.tolerances;
  trial.reference = this->options.reference;
  trial.cores = coresOfCalls(isForGpu(this->options.model.target) ? 1 : trial.threads);
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

bool Tuner::hasCandidatesLeft() const {
  size_t tried = results.trials + results.decisions.tried;
  return !options.budgetCandidates || tried < *options.budgetCandidates;
}

double Tuner::shareDone() const {
  if (!options.exhaustiveWithin) {
    double ofCandidates =
        options.budgetCandidates
            ? double(results.trials + results.decisions.tried) / double(*options.budgetCandidates)
            : 0;
    return std::min(1.0, std::max(ofCandidates, secondsSpent() / options.budgetSeconds));
  }
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
    auto isEmpty = database->isEmpty();
    TW_TRY_CLI(isEmpty);
    isDatabaseNew = *isEmpty;
  }
  if (std::string text = threadsText(options.threads);
      !text.empty() && !isForGpu(options.model.target))
    results.notes.push_back(std::move(text));
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
  double before = secondsSpent();
  if (int status = compileTo(options.model, startArtifact, folder))
    return status;
  compileSeconds = secondsForCandidate(options.timeout, secondsSpent() - before);
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
  if (self->isInterrupted)
    return fail({Code::SYSTEM_7,
                 "the search was interrupted before anything was measured",
                 {},
                 {},
                 "run the command again"});
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

int Tuner::secondsOfTrial(const TrialResult &self) const {
  double us = self.start.call.empty() ? 0 : statistics(self.start.call).median;
  return secondsForCandidate(options.timeout, trial.pairs * finalEffort * us / 1e6);
}

/// What an exhaustive search measures of a kernel, or why nothing.
static std::string coverageText(const TunableKernel &kernel, const TuneOptions &options) {
  const TunableKernel::Enumerated &all = *kernel.enumerated;
  double costWithin = *options.exhaustiveWithin;
  bool isBounded = std::isfinite(options.budgetSeconds) || options.budgetCandidates;
  const char *measured = isBounded ? "are to be measured, within the budget" : "are measured";
  if (!all.isComplete)
    return fmt::format("{} is left out: it has {} legal configurations or more", kernel.name,
                       all.legal);
  if (all.within == all.legal && !kernel.points.empty())
    return fmt::format("{}: all of its {} legal configurations {}", kernel.name, all.legal,
                       measured);
  std::string share = fmt::format("{} of its {} legal configurations", all.within, all.legal);
  if (std::isfinite(costWithin))
    share += fmt::format(", which cost at most {} times the least by the model,", costWithin);
  return kernel.points.empty()
             ? fmt::format("{} is left out: {} would have to be measured, more than {}",
                           kernel.name, share, SpaceQuery::mostEnumerated)
             : fmt::format("{}: {} {}", kernel.name, share, measured);
}

int Tuner::chooseKernels(const ProgramDescription &program, const TrialResult &self) {
  results.startUs = statistics(self.start.call).median;
  trial.seconds = secondsOfTrial(self);
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
      coverage.push_back(coverageText(kernel, options));
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
  if (tuned.empty() && options.addsForThreads)
    results.notes.push_back(fmt::format("no kernel has a variant for {} threads to search: calls "
                                        "run what was found with fewer",
                                        options.threads));
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
  else if (options.modelOnly || !isDatabaseNew)
    results.notes.push_back(
        fmt::format("{} knows nothing of these kernels: what it has is of others, or was measured "
                    "by another compiler, on another machine, with another number of threads, or "
                    "for another --objective",
                    options.database));
  return {};
}

} // namespace tw::cli
