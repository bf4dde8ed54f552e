// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tuner.h"
#include "../Failure.h"
#include "../Machine.h"
#include "../Statistics.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "KernelKeys.h"
#include "runtime/Observe.h"
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
/// Of each kernel so many are measured again, with so many times the pairs.
static constexpr size_t finalists = 3;
static constexpr size_t finalistsOfAll = 8; // where all were measured: the luckiest are many
static constexpr int finalPairs = 3;

Tuner::Tuner(TuneOptions options, const TemporaryFolder &folder, std::function<bool()> goesOn)
    : options(std::move(options)), folder(folder), goesOn(std::move(goesOn)),
      begin(std::chrono::steady_clock::now()) {
  trial.threads = this->options.threads;
  trial.pairs = this->options.pairs;
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

bool Tuner::hasTime(double shareOfBudget) const {
  return goesOn() && secondsSpent() < options.budgetSeconds * shareOfBudget;
}

double Tuner::shareDone() const {
  if (!options.exhaustiveWithin)
    return secondsSpent() / options.budgetSeconds;
  double least = 1; // of a kernel
  for (const TunedKernel &kernel : tuned)
    least = std::min(least, 1 - double(kernel.search.untriedCount()) /
                                    double(kernel.space.points.size()));
  return least;
}

double TunedKernel::shareOfBest() const {
  const tune::KernelSearch::Measured *best = search.bestConfirmed();
  return best ? best->ratio.median : 1;
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

int Tuner::readKernels() {
  progress.at("looking for what can be changed", 0);
  std::string text;
  SpaceQuery query = options.exhaustiveWithin ? SpaceQuery::ofAll(*options.exhaustiveWithin)
                                              : SpaceQuery::ofSearch(options.seed);
  if (int status = describeSpaces(options.model, query, folder, text))
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
  auto program = describeProgram(startArtifact);
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
  auto machine = machineText(program.target, options.threads);
  TW_TRY_CLI(machine);
  std::vector<std::string> coverage;
  for (size_t number = 0; number < all.size(); ++number) {
    const TunableKernel &kernel = all[number];
    std::vector<double> times = timesOf(self, kernel.name).second;
    double us = times.empty() ? 0 : statistics(times).median;
    bool isWanted = options.filter.takes(kernel);
    // What was fused into another kernel has that one's configuration.
    isWanted &= program.configured.contains(kernel.name);
    if (!isWanted || us < leastShare * results.startUs)
      continue;
    if (kernel.enumerated)
      coverage.push_back(coverageText(kernel, *options.exhaustiveWithin));
    if (kernel.points.empty())
      continue;
    tune::KernelSearch search(kernel.space, kernel.start, kernel.points, options.seed + number,
                              options.exhaustiveWithin ? tune::SearchMode::Exhaustive
                                                       : tune::SearchMode::Guided);
    tuned.push_back({kernel, std::move(search), keyOf(kernel, program, *machine), us, {}, {}});
    numbers.push_back(number);
  }
  if (tuned.empty() && !coverage.empty())
    return fail({Code::CLI_1,
                 "no kernel of the model has few enough configurations to measure them all",
                 {},
                 coverage,
                 "say with --exhaustive=FACTOR how many times the least cost configurations may "
                 "cost by the model, or search without it"});
  results.notes.insert(results.notes.end(), coverage.begin(), coverage.end());
  TW_TRY_CLI(startFromKnown());
  return 0;
}

Status Tuner::startFromKnown() {
  if (!database)
    return {};
  size_t known = 0;
  for (TunedKernel &kernel : tuned) {
    TW_TRY(database->describe(kernel.measured, descriptionOf(kernel.space)));
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
    progress.at(fmt::format("trial {}", results.trials + 1), shareDone());
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
  for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
    if (auto point = tuned[kernel].search.next())
      choice.emplace(kernel, *std::move(point));
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
            compileCandidate(options.model, configurationText(all, ofAll), folder, name));
  made.choice = choice;
  return made;
}

/// On the way only the results with the inputs as given are looked at.
Result<TrialResult> Tuner::run(const std::string &artifact, bool isFinal) const {
  TrialOptions own = trial;
  own.pairs *= isFinal ? finalPairs : 1;
  return runTrial(startArtifact, artifact, std::span(calls).first(isFinal ? calls.size() : 1), own);
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
    TimeRatio ratio = tune::compareTimes(candidate, start);
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
  remember(kernel, {point, kernel.search.costOf(point), why, {}, 0, 0,
                    int64_t(std::time(nullptr))});
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

//===----------------------------------------------------------------------===//
// After the search
//===----------------------------------------------------------------------===//

int Tuner::choose() {
  // Chosen now: what is measured again changes the order.
  std::vector<std::vector<tune::KernelSearch::Measured>> best;
  size_t most = options.exhaustiveWithin ? finalistsOfAll : finalists;
  for (const TunedKernel &kernel : tuned)
    best.push_back(kernel.search.finalists(most));
  for (size_t place = 0; place < most && goesOn(); ++place) {
    progress.at("measuring the best again", shareDone());
    Choice choice;
    for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
      if (place < best[kernel].size())
        choice.emplace(kernel, best[kernel][place].point);
    if (choice.empty())
      break;
    auto program = compile(choice, "finalists");
    TW_TRY_CLI(program);
    if (int status = tryOut(*program, /*isFinal=*/true))
      return status;
  }
  Choice faster;
  for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
    if (const auto *found = tuned[kernel].search.bestConfirmed();
        found && found->ratio.isFaster())
      faster.emplace(kernel, found->point);
  int status = keep(faster);
  if (status == 0 && goesOn() && !options.model.tuningSpecs.empty())
    status = compareWithCompilers();
  results.isInterrupted = !goesOn();
  noteDrift();
  progress.clear();
  return status;
}

int Tuner::keep(const Choice &choice) {
  if (choice.empty() || !goesOn())
    return 0;
  progress.at("measuring what is best together", shareDone());
  Choice together = kept;
  together.insert(choice.begin(), choice.end());
  TrialResult result;
  if (int status = runTogether(together, result))
    return status;
  TimeRatio ratio = tune::compareTimes(result.candidate.call, result.start.call);
  bool isFine = result.fault.empty() && !ratio.isSlower();
  if (!isFine && choice.size() > 1) {
    auto middle = std::next(choice.begin(), ptrdiff_t(choice.size() / 2));
    for (const Choice &half : {Choice(choice.begin(), middle), Choice(middle, choice.end())})
      if (int status = keep(half))
        return status;
    return 0;
  }
  if (!isFine) {
    results.notes.push_back(
        fmt::format("{} stays as it was: {}", tuned[choice.begin()->first].space.name,
                    result.fault.empty() ? "with its best configuration the whole call is slower"
                                         : "beside what is kept, " + result.fault));
    return 0;
  }
  Choice stillFaster;
  for (const auto &[kernel, point] : choice) {
    auto [candidate, start] = timesOf(result, tuned[kernel].space.name);
    tuned[kernel].ratio = tune::compareTimes(candidate, start);
    if (tuned[kernel].ratio.isFaster())
      stillFaster.emplace(kernel, point);
  }
  if (stillFaster.size() < choice.size())
    return keep(stillFaster);
  kept = std::move(together);
  results.ratio = ratio;
  for (const auto &[kernel, point] : kept)
    tuned[kernel].chosen = point;
  return 0;
}

void Tuner::noteDrift() {
  constexpr double much = 1.1; // more than what calls of one program differ by
  if (results.endUs == 0)
    return;
  double drift = results.endUs / results.startUs;
  if (drift > much || drift < 1 / much)
    results.notes.push_back(fmt::format(
        "the machine has changed: a call of the program that the search began with took {:.1f} us "
        "before and {:.1f} us after it; ratios are of calls that followed each other",
        results.startUs, results.endUs));
}

int Tuner::compareWithCompilers() {
  ModelOptions model = options.model;
  model.tuningSpecs.clear();
  auto compilers = compileCandidate(model, configurationText(all, {}), folder, "compilers");
  TW_TRY_CLI(compilers);
  auto found = compile(kept, "found");
  TW_TRY_CLI(found);
  if (!compilers->refusal.empty() || !found->refusal.empty())
    return fail({Code::TUNE_3, compilers->refusal + found->refusal});
  TrialOptions own = trial;
  own.pairs *= finalPairs;
  auto result = runTrial(compilers->artifact, found->artifact, std::span(calls), own);
  TW_TRY_CLI(result);
  if (!result->fault.empty())
    return fail({Code::TUNE_3, result->fault});
  results.ofCompilers = tune::compareTimes(result->candidate.call, result->start.call);
  keepsCompilers = results.ofCompilers->isSlower();
  if (keepsCompilers)
    results.notes.push_back("what was found is slower than the compiler's own choice, which is "
                            "what is written");
  return 0;
}

const Point &Tuner::finalPoint(size_t number) const {
  if (keepsCompilers)
    return all[number].chosen;
  for (const auto &[kernel, point] : kept)
    if (numbers[kernel] == number)
      return point;
  return all[number].start.point;
}

int Tuner::runTogether(const Choice &choice, TrialResult &result) {
  auto program = compile(choice, "together");
  TW_TRY_CLI(program);
  result.fault = program->refusal;
  if (!result.fault.empty())
    return 0;
  auto tried = run(program->artifact, /*isFinal=*/true);
  TW_TRY_CLI(tried);
  result = *std::move(tried);
  if (!result.start.call.empty())
    results.endUs = statistics(result.start.call).median;
  return 0;
}

std::vector<FoundKernel> Tuner::found() const {
  std::vector<FoundKernel> found;
  for (size_t number = 0; number < all.size(); ++number)
    found.push_back({all[number], finalPoint(number), {}});
  for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
    if (const TunedKernel &each = tuned[kernel]; each.chosen && !keepsCompilers)
      found[numbers[kernel]].measured = {each.measured.machine, each.measured.compiler,
                                         each.startUs, each.ratio};
  return found;
}

} // namespace tw::cli
