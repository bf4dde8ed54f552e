// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Alternatives to what the compiler decides about operators, each as a program of the whole model.
#include "../Failure.h"
#include "../Statistics.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Tuner.h"
#include "runtime/Artifact/Artifact.h"
#include <cstdint>
#include <ctime>
#include <fmt/format.h>
#include <utility>

namespace tw::cli {

/// The rest of the budget is for kernels.
static constexpr double shareOfDecisions = 0.2;

namespace {

/// Trials of earlier searches, by what was decided in them.
struct EarlierTrials {
  std::function<Result<std::vector<tune::Measurement>>(const std::string &)> find;
  std::function<void(const std::string &, const tune::Measurement &)> add;
};

class ModelTrials : public DecisionTrials {
public:
  using Ratio = std::function<tune::TimeRatio(const TrialResult &)>;

  ModelTrials(const ModelOptions &model, const TemporaryFolder &folder,
              std::span<const KnownCall> calls, TrialOptions trial, int compileSeconds,
              Ratio ratioOf, std::function<bool()> goesOn, EarlierTrials earlier,
              std::string &start)
      : model(model), folder(folder), calls(calls), trial(std::move(trial)),
        compileSeconds(compileSeconds), ratioOf(std::move(ratioOf)), goesOn(std::move(goesOn)),
        earlier(std::move(earlier)), start(start) {}

  /// What is kept is measured now, whatever is known of it.
  Result<AlternativeTrial> tryOut(const std::vector<Decision> &wanted, bool isFinal) override {
    std::string text = textOf(wanted);
    TW_ASSIGN(std::vector<tune::Measurement> known, earlier.find(text));
    if (!isFinal && !known.empty())
      return AlternativeTrial{.refusal = known.back().rejection, .ratio = known.back().ratio};
    TW_ASSIGN(AlternativeTrial made, tryNow(wanted, text, isFinal));
    if (!made.isInterrupted)
      earlier.add(text, {{}, {}, made.refusal, made.ratio, pairs, startUs, std::time(nullptr)});
    return made;
  }

  void keep() override {
    start = candidate.artifact;
    turn = 1 - turn; // the next one does not write over it
  }

private:
  Result<AlternativeTrial> tryNow(const std::vector<Decision> &wanted, const std::string &text,
                                  bool isFinal) {
    pairs = 0, startUs = 0;
    if (compiled != text) {
      TW_ASSIGN(candidate, compileCandidate(model, configurationText({}, {}, wanted), folder,
                                            fmt::format("decisions{}", turn), compileSeconds));
      compiled = text;
    }
    if (!goesOn()) // which may be why it was refused
      return AlternativeTrial{.isInterrupted = true};
    if (!candidate.refusal.empty())
      return AlternativeTrial{.refusal = candidate.refusal};
    TrialOptions own = trial;
    own.pairs *= isFinal ? 3 : 1;
    TW_ASSIGN(TrialResult result,
              runTrial(start, candidate.artifact, calls.first(isFinal ? calls.size() : 1), own));
    if (result.isInterrupted)
      return AlternativeTrial{.isInterrupted = true};
    if (!result.fault.empty())
      return AlternativeTrial{.refusal = result.fault};
    pairs = int64_t(result.start.call.size());
    startUs = statistics(result.start.call).median;
    return AlternativeTrial{.ratio = ratioOf(result)};
  }

  const ModelOptions &model;
  const TemporaryFolder &folder;
  std::span<const KnownCall> calls;
  TrialOptions trial;
  int compileSeconds;
  Ratio ratioOf;
  std::function<bool()> goesOn;
  EarlierTrials earlier;
  std::string &start;
  CandidateProgram candidate;
  std::string compiled; // what is decided in the candidate
  int64_t pairs = 0;    // of the last trial
  double startUs = 0;
  int turn = 0;
};

/// What the dispatches take that compute each operator.
std::map<std::string, double> timesOfOperators(const rt::Metadata &program,
                                               const ProgramCosts &costs) {
  std::map<std::vector<std::string>, size_t> counts;
  auto keyOf = [](const rt::DispatchInfo &dispatch) {
    return dispatch.configured.empty() ? std::vector{dispatch.kernel} : dispatch.configured;
  };
  for (const rt::DispatchInfo &dispatch : program.dispatches)
    ++counts[keyOf(dispatch)];
  std::map<std::string, double> us;
  for (const rt::DispatchInfo &dispatch : program.dispatches) {
    auto found = costs.dispatches.find(keyOf(dispatch));
    if (found == costs.dispatches.end() || found->second.empty())
      continue;
    double own = statistics(found->second).median / double(counts[keyOf(dispatch)]);
    addTime(us, dispatch.ops, own);
  }
  return us;
}

} // namespace

int Tuner::decide() {
  bool isStarted = !options.model.tuningSpecs.empty();
  if (!options.searchesDecisions && !isStarted)
    return 0;
  std::vector<Decision> made;
  if (int status = describeDecisions(options.model, folder, made))
    return status;
  if (isStarted) {
    ModelOptions model = options.model;
    model.tuningSpecs.clear();
    if (int status = describeDecisions(model, folder, compilersDecisions))
      return status;
    decided = differences(made, compilersDecisions);
  }
  return options.searchesDecisions && goesOn() ? tryAlternatives(made) : 0;
}

int Tuner::readDecisions() {
  ModelOptions model = options.model;
  model.configurations = folder.path() + "/kept.json";
  Choice ofAll;
  for (const auto &[kernel, point] : kept)
    ofAll.emplace(numbers[kernel], point);
  std::string text = configurationText(all, ofAll, results.decisions.decisions());
  std::span<const std::byte> bytes = asBytes(text);
  TW_TRY_CLI(writeFile(model.configurations, std::span(&bytes, 1)));
  std::vector<Decision> made;
  if (int status = describeDecisions(model, folder, made))
    return status;
  decided = differences(made, compilersDecisions);
  return 0;
}

/// Operators have the same names in other models: what the model is made of tells them apart.
Result<tune::MeasuredKernel> Tuner::keyOfDecisions(const rt::Metadata &program,
                                                   const std::vector<Decision> &made) const {
  if (!database) // nothing is looked up, so the model need not be read
    return tune::MeasuredKernel();
  TW_ASSIGN(ProgramDescription description, describeProgram(program));
  TW_ASSIGN(std::string machine, machineText(program.target, options.threads));
  std::string text = textOf(made);
  std::vector<std::string> files = options.model.kernels;
  files.push_back(options.model.model);
  for (const std::string &path : files) {
    TW_ASSIGN(MappedFile file, MappedFile::open(path));
    text += fmt::format("{:016x}", std::hash<std::string_view>()(file.text()));
  }
  for (const HostTensor &input : calls.front().inputs)
    text += input.typeText();
  bool isForTime = options.objective == Objective::Time;
  return tune::MeasuredKernel{"",
                              0,
                              fmt::format("{:016x}", std::hash<std::string>()(text)),
                              description.target + " decisions",
                              (isForTime ? "" : "memory; ") + machine,
                              description.compiler};
}

int Tuner::tryAlternatives(const std::vector<Decision> &made) {
  progress.at("trying other decisions", 0);
  auto program = rt::openArtifact(startArtifact);
  TW_TRY_CLI(program);
  auto self = runTrial(startArtifact, startArtifact, std::span(calls).first(1), trial);
  TW_TRY_CLI(self);
  if (self->isInterrupted || !self->fault.empty()) // readKernels says it
    return 0;
  trial.seconds = secondsOfTrial(*self);
  auto key = keyOfDecisions(program->metadata, made);
  TW_TRY_CLI(key);
  auto keyOf = [&](const std::string &decisions) {
    tune::MeasuredKernel own = *key;
    own.signature = decisions;
    return own;
  };
  EarlierTrials earlier = {[&](const std::string &decisions) {
                             return database ? database->find(keyOf(decisions))
                                             : std::vector<tune::Measurement>();
                           },
                           [&](const std::string &decisions, const tune::Measurement &measurement) {
                             remember(keyOf(decisions), measurement);
                           }};
  ModelTrials trials(
      options.model, folder, calls, trial, compileSeconds,
      [this](const TrialResult &result) { return ratioOfCall(result); }, goesOn, earlier,
      startArtifact);
  // Candidates are for kernels first. Of time there is enough for one at least: what was prepared
  // for it may have taken all of a short budget.
  size_t mostTried = options.budgetCandidates
                         ? size_t(double(*options.budgetCandidates) * shareOfDecisions)
                         : SIZE_MAX;
  size_t tried = 0;
  auto report = searchDecisions(
      alternativesOf(made, timesOfOperators(program->metadata, self->start)), trials, [&] {
        bool hasTimeLeft = tried == 0 ? goesOn() : hasTime(shareOfDecisions);
        return hasTimeLeft && tried++ < mostTried;
      });
  TW_TRY_CLI(report);
  results.decisions = *std::move(report);
  if (results.decisions.kept.empty())
    return 0;
  // What the search of kernels begins with.
  options.model.configurations = folder.path() + "/decisions.json";
  std::string text = configurationText({}, {}, results.decisions.decisions());
  std::span<const std::byte> bytes = asBytes(text);
  TW_TRY_CLI(writeFile(options.model.configurations, std::span(&bytes, 1)));
  return 0;
}

} // namespace tw::cli
