// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tuner.h"
#include "../CompilerLibrary.h"
#include "../Failure.h"
#include "../Machine.h"
#include "../Program.h"
#include "../Statistics.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "runtime/Observe.h"
#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw::cli {
using tune::Point;
using tune::TimeRatio;

/// Points of each kernel that the compiler proposes, and how many of them it draws by the solver.
static constexpr int64_t pointsMost = 400, samples = 100;
/// Kernels with less of the time are left as they are.
static constexpr double leastShare = 0.005;
/// The search ends here, so that there is time to measure the best again.
static constexpr double shareOfSearch = 0.8;
/// Of each kernel so many are measured again, with so many times the pairs.
static constexpr size_t finalists = 3;
static constexpr int finalPairs = 3;

Tuner::Tuner(TuneOptions options, const TemporaryFolder &folder, std::function<bool()> goesOn)
    : options(std::move(options)), folder(folder), goesOn(std::move(goesOn)),
      begin(std::chrono::steady_clock::now()) {
  trial.threads = this->options.threads;
  trial.pairs = this->options.pairs;
  trial.tolerances = this->options.tolerances;
}

double Tuner::secondsSpent() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

bool Tuner::hasTime(double shareOfBudget) const {
  return goesOn() && secondsSpent() < options.budgetSeconds * shareOfBudget;
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
  ModelOptions reference = options.model;
  reference.target = "reference";
  if (int status = compileTo(reference, referenceArtifact, folder))
    return status;
  ProgramPtr start, truth;
  TW_TRY_CLI(loadArtifact(startArtifact, "", /*verify=*/false, start));
  TW_TRY_CLI(loadArtifact(referenceArtifact, "", /*verify=*/false, truth));
  auto known = knownCalls(truth.get(), start.get(), inputs, trial, results.notes);
  TW_TRY_CLI(known);
  calls = *std::move(known);
  return 0;
}

/// What measurements in the database must have been made with to be worth something here.
static tune::MeasuredKernel keyOf(const TunableKernel &kernel, const tw_program *program,
                                  const std::string &compiler, int threads) {
  const tw_program_info *info = tw_program_describe(program);
  return {kernel.signature,
          kernel.number,
          tune::pointText(kernel.start.point),
          fmt::format("{} {}", info->target, kernel.kind),
          fmt::format("{}; {}; {} threads", cpuModel(), fmt::join(cpuFeatures(), " "),
                      threads ? threads : usableThreads()),
          fmt::format("{}; {}", info->compiler, compiler)};
}

/// Tells one build of the compiler from another.
static Result<std::string> compilerBuild() {
  const char *given = std::getenv("TILEWRIGHT_COMPILER");
  TW_ASSIGN(MappedFile library,
            MappedFile::open(given ? given : CompilerLibrary::besideExecutable()));
  return fmt::format("{:016x}", std::hash<std::string_view>()(library.text()));
}

int Tuner::readKernels() {
  progress.at("looking for what can be changed", 0);
  std::string text;
  SpaceQuery query{"json", "", 0, pointsMost, samples, options.seed};
  if (int status = describeSpaces(options.model, query, folder, text))
    return status;
  auto spaces = readSpaces(text);
  TW_TRY_CLI(spaces);
  all = *std::move(spaces);
  // Against itself: what each kernel takes.
  auto self = runTrial(startArtifact, startArtifact, std::span(calls), trial);
  TW_TRY_CLI(self);
  if (!self->fault.empty())
    return fail({Code::TUNE_3,
                 fmt::format("the model as it is cannot be measured: {}", self->fault),
                 {},
                 {},
                 "tilewright check compares its results with the reference target's"});
  results.startUs = statistics(self->start.call).median;
  trial.seconds = int(30 + 20 * trial.pairs * finalPairs * results.startUs / 1e6);
  ProgramPtr start;
  TW_TRY_CLI(loadArtifact(startArtifact, "", /*verify=*/false, start));
  auto compiler = compilerBuild();
  TW_TRY_CLI(compiler);
  for (size_t number = 0; number < all.size(); ++number) {
    const TunableKernel &kernel = all[number];
    auto times = self->start.kernels.find(kernel.name);
    double us = times == self->start.kernels.end() ? 0 : statistics(times->second).median;
    bool isWanted = options.kernels.empty() ||
                    std::ranges::find(options.kernels, kernel.name) != options.kernels.end();
    if (!isWanted || us < leastShare * results.startUs || kernel.points.empty())
      continue;
    tune::KernelSearch search(kernel.space, kernel.start, kernel.points, options.seed + number);
    tuned.push_back({kernel,
                     std::move(search),
                     keyOf(kernel, start.get(), *compiler, options.threads),
                     us,
                     {},
                     {}});
    numbers.push_back(number);
  }
  TW_TRY_CLI(startFromKnown());
  return 0;
}

Status Tuner::startFromKnown() {
  if (!database)
    return {};
  size_t known = 0;
  for (TunedKernel &kernel : tuned) {
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
  while (hasTime(shareOfSearch)) {
    progress.at(fmt::format("trial {}", results.trials + 1),
                secondsSpent() / options.budgetSeconds);
    Choice choice; // of the kernels in `tuned`
    for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
      if (auto point = tuned[kernel].search.next())
        choice.emplace(kernel, *std::move(point));
    if (choice.empty())
      return 0;
    if (int status = tryOut(choice, /*isFinal=*/false))
      return status;
  }
  return 0;
}

/// On the way only the results with the inputs as given are looked at.
Result<TrialResult> Tuner::run(const std::string &artifact, bool isFinal) const {
  TrialOptions own = trial;
  own.pairs *= isFinal ? finalPairs : 1;
  return runTrial(startArtifact, artifact, std::span(calls).first(isFinal ? calls.size() : 1), own);
}

int Tuner::compileChoice(const Choice &choice, std::string &artifact, bool &isCompiled) {
  Choice ofAll;
  for (const auto &[kernel, point] : choice)
    ofAll.emplace(numbers[kernel], point);
  ModelOptions model = options.model;
  model.configurations = folder.path() + "/candidate.json";
  artifact = folder.path() + "/candidate.so";
  std::string text = configurationText(all, ofAll);
  std::span<const std::byte> bytes = asBytes(text);
  TW_TRY_CLI(writeFile(model.configurations, std::span(&bytes, 1)));
  int status = compileTo(model, artifact, folder);
  isCompiled = status == 0;
  // The compiler has said why; whatever it is, it is the candidate's.
  return 0;
}

int Tuner::tryOut(const Choice &choice, bool isFinal) {
  ++results.trials;
  std::string artifact, fault = "the compiler refuses it";
  bool isCompiled = false;
  if (int status = compileChoice(choice, artifact, isCompiled))
    return status;
  if (isCompiled) {
    auto result = run(artifact, isFinal);
    TW_TRY_CLI(result);
    if (result->isInterrupted || !goesOn())
      return 0;
    fault = result->fault;
    if (fault.empty()) {
      TW_TRY_CLI(record(choice, *result));
      return 0;
    }
  }
  if (choice.size() == 1) {
    TW_TRY_CLI(reject(choice.begin()->first, choice.begin()->second, fault));
    return 0;
  }
  auto middle = std::next(choice.begin(), ptrdiff_t(choice.size() / 2));
  for (const Choice &half : {Choice(choice.begin(), middle), Choice(middle, choice.end())})
    if (int status = tryOut(half, isFinal))
      return status;
  return 0;
}

Status Tuner::record(const Choice &choice, const TrialResult &result) {
  for (const auto &[number, point] : choice) {
    TunedKernel &kernel = tuned[number];
    auto candidate = result.candidate.kernels.find(kernel.space.name);
    auto start = result.start.kernels.find(kernel.space.name);
    if (candidate == result.candidate.kernels.end() || start == result.start.kernels.end()) {
      TW_TRY(reject(number, point, "nothing of it has run"));
      continue;
    }
    TimeRatio ratio = tune::compareTimes(candidate->second, start->second);
    kernel.search.record(point, ratio);
    if (database)
      TW_TRY(database->add(kernel.measured,
                           {point, "", ratio, int64_t(start->second.size()),
                            statistics(start->second).median, int64_t(std::time(nullptr))}));
  }
  return {};
}

Status Tuner::reject(size_t number, const Point &point, const std::string &why) {
  TunedKernel &kernel = tuned[number];
  kernel.search.reject(point);
  results.notes.push_back(
      fmt::format("{}: rejected {}: {}", kernel.space.name, tune::pointText(point), why));
  if (!database)
    return {};
  return database->add(kernel.measured, {point, why, {}, 0, 0, int64_t(std::time(nullptr))});
}

//===----------------------------------------------------------------------===//
// After the search
//===----------------------------------------------------------------------===//

int Tuner::choose() {
  for (size_t place = 0; place < finalists && goesOn(); ++place) {
    progress.at("measuring the best again", secondsSpent() / options.budgetSeconds);
    Choice choice;
    for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
      if (auto best = tuned[kernel].search.finalists(finalists); place < best.size())
        choice.emplace(kernel, best[place].point);
    if (!choice.empty())
      if (int status = tryOut(choice, /*isFinal=*/true))
        return status;
  }
  for (TunedKernel &kernel : tuned)
    if (const auto *best = kernel.search.best(); best && best->ratio.isFaster())
      kernel.chosen = best->point, kernel.ratio = best->ratio;
  // Together: what is not faster beside the others goes, until all is.
  TrialResult together;
  for (bool isSettled = false; !isSettled;) {
    if (int status = runChosen(together))
      return status;
    isSettled = true;
    for (TunedKernel &kernel : tuned) {
      if (!kernel.chosen)
        continue;
      kernel.ratio = tune::compareTimes(together.candidate.kernels[kernel.space.name],
                                        together.start.kernels[kernel.space.name]);
      if (!kernel.ratio.isFaster())
        kernel.chosen.reset(), isSettled = false;
    }
  }
  results.ratio = tune::compareTimes(together.candidate.call, together.start.call);
  results.isInterrupted = !goesOn();
  progress.clear();
  return 0;
}

int Tuner::runChosen(TrialResult &result) {
  Choice choice;
  for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
    if (tuned[kernel].chosen)
      choice.emplace(kernel, *tuned[kernel].chosen);
  std::string artifact = startArtifact;
  bool isCompiled = true;
  if (!choice.empty())
    if (int status = compileChoice(choice, artifact, isCompiled))
      return status;
  auto tried = isCompiled ? run(artifact, /*isFinal=*/true) : Result<TrialResult>(TrialResult{});
  TW_TRY_CLI(tried);
  result = *std::move(tried);
  if (!isCompiled || !result.fault.empty()) {
    // Each alone was right: nothing is kept of what is wrong together.
    results.notes.push_back(fmt::format("nothing is kept, for together it is wrong: {}",
                                        isCompiled ? result.fault : "the compiler refuses it"));
    for (TunedKernel &kernel : tuned)
      kernel.chosen.reset();
    result = {};
  }
  return 0;
}

std::string Tuner::configuration() const {
  Choice choice;
  for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
    if (tuned[kernel].chosen)
      choice.emplace(numbers[kernel], *tuned[kernel].chosen);
  return configurationText(all, choice);
}

} // namespace tw::cli
