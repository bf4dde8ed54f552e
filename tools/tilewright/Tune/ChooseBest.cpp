// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a search is kept: the best of each kernel, as far as it helps the whole model.
#include "../Failure.h"
#include "../Statistics.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Tuner.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {
using tune::Point;
using tune::TimeRatio;

/// Of each kernel so many are measured again at most, and in each round half as many.
static constexpr size_t finalists = 4;
static constexpr size_t finalistsOfAll = 8; // where all were measured: the luckiest are many

/// What is still to be told apart: those that may be the fastest, unless that is one alone and was
/// measured again already.
static std::vector<Point> toMeasureAgain(const tune::KernelSearch &search, size_t most) {
  std::vector<Point> points;
  for (const auto &each : search.contenders(most))
    points.push_back(each.point);
  const auto *best = search.best();
  if (points.size() == 1 && best->isConfirmed)
    return {};
  return points;
}

Status Tuner::measureAgain() {
  size_t most = options.exhaustiveWithin ? finalistsOfAll : finalists;
  bool isFirst = true;
  for (Effort effort = finalEffort; most > 0; most /= 2, effort *= 2) {
    // Chosen now: what is measured changes the order.
    std::vector<std::vector<Point>> points;
    for (const TunedKernel &kernel : tuned)
      points.push_back(toMeasureAgain(kernel.search, most));
    for (size_t place = 0; place < most; ++place) {
      // The best of all at least, however short the budget.
      if (!(isFirst ? goesOn() : hasTime(1)))
        return {};
      say("measuring the best again");
      Choice choice;
      for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
        if (place < points[kernel].size())
          choice.emplace(kernel, points[kernel][place]);
      if (choice.empty())
        break;
      TW_ASSIGN(CandidateProgram program, compile(choice, "finalists"));
      TW_TRY(tryOut(program, effort));
      isFirst = false;
    }
  }
  return {};
}

int Tuner::choose() {
  if (options.objective == Objective::Time) // memory is the same each time
    TW_TRY_CLI(measureAgain());
  Choice faster;
  for (size_t kernel = 0; kernel < tuned.size(); ++kernel)
    if (const auto *found = tuned[kernel].search.bestConfirmed(); found && found->ratio.isFaster())
      faster.emplace(kernel, found->point);
  int status = keep(faster);
  if (status == 0 && goesOn() && !options.model.tuningSpecs.empty())
    status = readDecisions();
  // Of what is found for several numbers of threads, each is compared at the end.
  bool isOther = !options.model.tuningSpecs.empty() || !results.decisions.kept.empty();
  bool isCompared = (isOther || !kept.empty()) && !options.addsForThreads;
  if (status == 0 && goesOn() && isCompared)
    status = compareWithCompilers();
  // Both are of what was found beside the compiler's own choice, which the search began with.
  if (!isOther && results.ofCompilers && options.objective == Objective::Time)
    if (std::string text = disagreementText(results.ratio, *results.ofCompilers); !text.empty())
      results.notes.push_back(std::move(text));
  if (isOther && isCompared && !results.ofCompilers && !keepsCompilers)
    results.notes.push_back("interrupted: what is written is not compared with the compiler's own "
                            "choice, and may be slower");
  results.isInterrupted = !goesOn();
  noteDrift();
  progress.clear();
  return status;
}

int Tuner::keep(const Choice &choice) {
  if (choice.empty())
    return 0;
  say(goesOn() ? "measuring what is best together"
               : "interrupted: measuring what is best together (again to end without it)");
  Choice together = kept;
  together.insert(choice.begin(), choice.end());
  TrialResult result;
  if (int status = runTogether(together, result))
    return status;
  TimeRatio ratio = ratioOfCall(result);
  // Noise is no reason against what was faster by itself; memory has none.
  bool isForTime = options.objective == Objective::Time;
  bool isFine =
      result.fault.empty() && (isForTime ? !ratio.isSlower() : ratio.median < results.ratio.median);
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
                    !result.fault.empty() ? "beside what is kept, " + result.fault
                    : isForTime           ? "with its best configuration the whole call is slower"
                                          : "beside what is kept, its best saves no memory"));
    return 0;
  }
  Choice stillFaster;
  for (const auto &[kernel, point] : choice) {
    // Of memory only what it was alone says something of a kernel.
    const auto *alone = tuned[kernel].search.best();
    tuned[kernel].ratio = isForTime || !alone ? ratioOf(tuned[kernel], result) : alone->ratio;
    if (tuned[kernel].ratio.isFaster())
      stillFaster.emplace(kernel, point);
  }
  if (stillFaster.size() < choice.size())
    return keep(stillFaster);
  kept = std::move(together);
  results.ratio = ratio;
  results.timeRatio = tune::compareTimes(result.candidate.call, result.start.call);
  for (const auto &[kernel, point] : kept)
    tuned[kernel].chosen = point;
  return 0;
}

void Tuner::noteDrift() {
  if (std::string drift = driftText(results.startUs, results.endUs); !drift.empty())
    results.notes.push_back(std::move(drift));
  double share = 0;
  for (const TunedKernel &kernel : tuned)
    share = std::max(share, kernel.rooflineShare(/*isStart=*/false).value_or(0));
  if (std::string busy = rooflineText(share); !busy.empty())
    results.notes.push_back(std::move(busy));
}

int Tuner::compileFound(ModelOptions model, std::string &compilers, std::string &found) const {
  model.tuningSpecs.clear();
  model.configurations.clear();
  auto before = compileCandidate(model, configurationText(all, {}, {}), folder, "compilers", {});
  TW_TRY_CLI(before);
  // What everybody will compile, and not what was measured on the way to it.
  model.tuningSpecs = {folder.path() + "/found.mlir"};
  std::string spec = specText(model, this->found(), foundDecisions());
  std::span<const std::byte> bytes = asBytes(spec);
  TW_TRY_CLI(writeFile(model.tuningSpecs.front(), std::span(&bytes, 1)));
  auto after = compileCandidate(model, configurationText(all, {}, {}), folder, "found", {});
  TW_TRY_CLI(after);
  if (!before->refusal.empty() || !after->refusal.empty())
    return fail({Code::TUNE_3, before->refusal + after->refusal});
  compilers = before->artifact, found = after->artifact;
  return 0;
}

Result<TrialResult> Tuner::compareFound(const std::string &compilers, const std::string &found,
                                        int threads) const {
  TrialOptions own = trial;
  own.threads = threads;
  own.cores = coresOfCalls(threads);
  own.pairs *= finalEffort;
  TW_ASSIGN(TrialResult result, runTrial(compilers, found, std::span(calls), own));
  if (!result.fault.empty())
    return Diagnostic{Code::TUNE_3, result.fault};
  return result;
}

int Tuner::measureThreads(std::span<const int> numbers, std::vector<CallOfThreads> &measured) {
  std::string compilers, found;
  if (int status = compileFound(options.model, compilers, found))
    return status;
  for (int threads : numbers) {
    say(fmt::format("measuring calls with {} threads", threads));
    auto result = compareFound(compilers, found, threads);
    TW_TRY_CLI(result);
    if (result->isInterrupted || !goesOn())
      break;
    measured.push_back({threads, statistics(result->candidate.call).median,
                        tune::compareTimes(result->candidate.call, result->start.call)});
  }
  progress.clear();
  return 0;
}

void Tuner::keepCompilers(const std::string &why) {
  keepsCompilers = true;
  results.notes.push_back(why + " the compiler's own choice, which is what is written");
}

int Tuner::compareWithCompilers() {
  std::string compilers, found;
  if (int status = compileFound(options.model, compilers, found))
    return status;
  auto result = compareFound(compilers, found, trial.threads);
  if (!result && result.error().code == Code::TUNE_3) {
    keepsCompilers = true;
    results.notes.push_back("the compiler's own choice is what is written: with what was found, " +
                            result.error().message);
    return 0;
  }
  TW_TRY_CLI(result);
  if (result->isInterrupted || !goesOn())
    return 0;
  results.ofCompilers = ratioOfCall(*result);
  if (results.ofCompilers->median >= 1)
    keepCompilers("what was found is no better than");
  return 0;
}

std::optional<Point> Tuner::finalPoint(size_t number) const {
  if (keepsCompilers)
    return std::nullopt;
  for (const auto &[kernel, point] : kept)
    if (numbers[kernel] == number)
      return point;
  return all[number].start.point;
}

int Tuner::runTogether(const Choice &choice, TrialResult &result) {
  // A signal asks for the end of the search, which is this; the next one ends the process.
  for (bool isKnown = false; !isKnown;) {
    bool wentOn = goesOn();
    auto program = compile(choice, "together");
    TW_TRY_CLI(program);
    result = {};
    result.fault = program->refusal;
    isKnown = wentOn == goesOn();
    if (!result.fault.empty())
      continue;
    auto tried = run(program->artifact, finalEffort);
    TW_TRY_CLI(tried);
    result = *std::move(tried);
    isKnown = !result.isInterrupted;
  }
  if (!result.start.call.empty())
    results.endUs = statistics(result.start.call).median;
  return 0;
}

std::vector<Decision> Tuner::foundDecisions() const {
  if (keepsCompilers)
    return {};
  std::vector<Decision> all = results.decisions.decisions();
  auto isAbout = [](const Decision &decision) {
    return std::pair(decision.kind, decision.operators);
  };
  for (const Decision &decision : decided)
    if (std::ranges::find(all, isAbout(decision), isAbout) == all.end())
      all.push_back(decision);
  return all;
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
