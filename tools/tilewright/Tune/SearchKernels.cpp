// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search itself: which candidates are compiled, tried, and recorded or rejected.
#include "../Failure.h"
#include "../Machine.h"
#include "../Statistics.h"
#include "Support/ChildProcess.h"
#include "Tuner.h"
#include "runtime/Artifact/Artifact.h"
#include <algorithm>
#include <ctime>
#include <deque>
#include <fmt/format.h>

namespace tw::cli {
using tune::Point;
using tune::TimeRatio;

/// The search ends here, so that there is time to measure the best again.
static constexpr double shareOfSearch = 0.8;

int Tuner::search() {
  if (options.modelOnly)
    return 0;
  // What is known by now is worth more than the rest of the search.
  if (Status ended = searchKernels(); !ended)
    results.notes.push_back("the search has ended early: " + ended.error().message);
  return 0;
}

Status Tuner::searchKernels() {
  // A signal waits until all that is compiled has been ended by it, on whatever thread.
  DelayedSignals delayed;
  std::deque<Compilation> ahead;
  auto compileAhead = [&](size_t most) {
    while (ahead.size() < most) {
      Compilation next = compileNext();
      if (!next.valid())
        return;
      ahead.push_back(std::move(next));
    }
  };
  // One trial at least: what was prepared for it may have taken all of a short budget.
  while (results.trials == 0 ? goesOn() : hasTime(shareOfSearch) && hasCandidatesLeft()) {
    say(fmt::format("trial {}", results.trials + 1));
    compileAhead(1);
    if (ahead.empty())
      return {};
    TW_ASSIGN(CandidateProgram candidate, ahead.front().get());
    ahead.pop_front();
    compileAhead(mostAhead());
    TW_TRY(tryOut(candidate, firstEffort));
  }
  return {};
}

size_t Tuner::mostAhead() const {
  // Each is chosen without knowing of those before it, and is a file as large as the model.
  constexpr size_t most = 4;
  return trial.cores.empty() ? 0 : std::clamp<size_t>(otherCores.size(), 1, most);
}

Tuner::Compilation Tuner::compileNext() {
  Choice choice; // of the kernels in `tuned`
  // Times of kernels are told apart. Memory is not: they take turns.
  bool isForAll = options.objective == Objective::Time;
  for (size_t i = 0; i < tuned.size() && (isForAll || choice.empty()); ++i) {
    size_t kernel = isForAll ? i : turn++ % tuned.size();
    if (auto point = tuned[kernel].search.next())
      choice.emplace(kernel, *std::move(point));
  }
  if (choice.empty())
    return {};
  // The one that is measured and those ahead of it are still there.
  std::string name = fmt::format("next{}", ++compiled % (mostAhead() + 1));
  auto compileIt = [this, name, choice = std::move(choice)]() -> Result<CandidateProgram> {
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
                             name, compileSeconds));
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

Result<TrialResult> Tuner::run(const std::string &artifact, Effort effort) const {
  TrialOptions own = trial;
  own.pairs *= effort;
  size_t inputs = effort < finalEffort ? 1 : calls.size();
  return runTrial(startArtifact, artifact, std::span(calls).first(inputs), own);
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

Status Tuner::tryOut(const CandidateProgram &candidate, Effort effort) {
  ++results.trials;
  std::string fault = candidate.refusal;
  if (fault.empty()) {
    TW_ASSIGN(TrialResult result, run(candidate.artifact, effort));
    if (result.isInterrupted)
      return {};
    fault = result.fault;
    if (fault.empty()) {
      record(candidate.choice, result);
      return {};
    }
  }
  if (!goesOn())
    return {};
  const Choice &choice = candidate.choice;
  if (choice.size() == 1) {
    reject(choice.begin()->first, choice.begin()->second, fault);
    return {};
  }
  auto middle = std::next(choice.begin(), ptrdiff_t(choice.size() / 2));
  for (const Choice &half : {Choice(choice.begin(), middle), Choice(middle, choice.end())}) {
    TW_ASSIGN(CandidateProgram program, compile(half, "half"));
    TW_TRY(tryOut(program, effort));
  }
  return {};
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
    remember(kernel.measured, {point, kernel.search.costOf(point), "", ratio, int64_t(start.size()),
                               statistics(start).median, int64_t(std::time(nullptr))});
  }
}

void Tuner::reject(size_t number, const Point &point, const std::string &why) {
  TunedKernel &kernel = tuned[number];
  kernel.search.reject(point);
  results.notes.push_back(
      fmt::format("{}: rejected{}: {}", kernel.space.name, changesText(kernel.space, point), why));
  remember(kernel.measured,
           {point, kernel.search.costOf(point), why, {}, 0, 0, int64_t(std::time(nullptr))});
}

void Tuner::remember(const tune::MeasuredKernel &kernel, const tune::Measurement &measurement) {
  if (!database)
    return;
  Status added = database->add(kernel, measurement);
  if (added)
    return;
  // What was found is worth more than its record.
  results.notes.push_back("measurements are no longer kept: " + added.error().message);
  database.reset();
}

} // namespace tw::cli
