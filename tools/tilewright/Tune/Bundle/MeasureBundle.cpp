// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MeasureBundle.h"
#include "Bundle.h"
#include "BundleDecisions.h"
#include "IO/File.h"
#include "IO/Formats/JsonWriter.h"
#include "IO/Formats/Npy.h"
#include "IO/InputSpec.h"
#include "IO/OutputFile.h"
#include "KnownCalls.h"
#include "Support/Counted.h"
#include "runtime/Artifact/Artifact.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Machine.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Progress.h"
#include "tools/tilewright/Statistics.h"
#include "tools/tilewright/Tune/CandidateLimits.h"
#include "tools/tilewright/Tune/Trial.h"
#include <algorithm>
#include <ctime>
#include <fmt/format.h>

namespace tw::cli {

namespace {

class BundleMeasurer {
public:
  BundleMeasurer(std::string folder, const ToleranceOptions &tolerances, std::optional<int> timeout)
      : folder(std::move(folder)), timeout(timeout) {
    trial.tolerances = tolerances;
  }

  Status open() {
    TW_ASSIGN(bundle, readBundle(folder));
    trial.threads = bundle.threads;
    trial.pairs = bundle.pairs;
    trial.cores = coresOfCalls(bundle.threads);
    trial.reference = bundle.reference;
    TW_ASSIGN(rt::Artifact start, rt::openArtifact(pathOf(bundledStart), {.verify = true}));
    TW_ASSIGN(machine, machineText(start.metadata.target, bundle.threads));
    if (std::string text = threadsText(bundle.threads);
        !text.empty() && !isForGpu(start.metadata.target))
      notes.push_back(std::move(text));
    TW_TRY(openResults());
    std::vector<HostTensor> inputs;
    for (const std::string &input : bundle.inputs) {
      TW_ASSIGN(HostTensor tensor, readBundled(input));
      inputs.push_back(std::move(tensor));
    }
    TW_ASSIGN(calls,
              knownCalls(pathOf(bundledReference), pathOf(bundledStart), inputs, trial, notes));
    return setTimeout();
  }

  Status measure(const std::function<bool()> &goesOn) {
    Progress progress;
    for (size_t i = 0; i < bundle.programs.size() && goesOn(); ++i) {
      progress.at(fmt::format("program {} of {}", i + 1, bundle.programs.size()),
                  double(i) / double(bundle.programs.size()));
      TW_TRY(measure(bundle.programs[i]));
    }
    return {};
  }

  size_t measured = 0, known = 0;
  std::vector<std::string> notes;

private:
  /// Where it is kept what is measured, and on which machine.
  Status openResults() {
    auto withHelp = [](Diagnostic problem, std::string help) {
      problem.help = std::move(help);
      return problem;
    };
    std::span<const std::byte> bytes = asBytes(machine);
    if (Status written = writeFile(pathOf(bundledMachine), std::span(&bytes, 1)); !written)
      return withHelp(written.error(),
                      "what is measured is kept in the bundle: make room there, or "
                      "copy it to a folder that you may write to");
    auto opened = tune::Database::open(pathOf(bundledDatabase));
    if (!opened)
      return withHelp(opened.error(), fmt::format("without {}, all programs are measured again",
                                                  pathOf(bundledDatabase)));
    database.emplace(*std::move(opened));
    return {};
  }

  /// By what the start takes, for which there is none.
  Status setTimeout() {
    std::string start = pathOf(bundledStart);
    TW_ASSIGN(TrialResult self, runTrial(start, start, std::span(calls).first(1), trial));
    if (!self.fault.empty())
      return Diagnostic{Code::TUNE_3,
                        fmt::format("the model as it is cannot be measured: {}", self.fault),
                        {},
                        {},
                        "tilewright check compares its results with the reference target's"};
    double us = self.isInterrupted ? 0 : statistics(self.start.call).median;
    trial.seconds = secondsForCandidate(timeout, trial.pairs * us / 1e6);
    return {};
  }

  std::string pathOf(const std::string &file) const { return folder + "/" + file; }

  Result<HostTensor> readBundled(const std::string &input) const {
    if (input.find('=') == input.npos)
      return readNpy(pathOf(input));
    TW_ASSIGN(InputSpec spec, parseInputSpec(input));
    return readInput(spec);
  }

  /// On the inputs as given; what is faster somewhere is compared on all of them.
  Result<TrialResult> run(const BundledProgram &program) const {
    std::string artifact = pathOf(program.artifact);
    TW_ASSIGN(TrialResult result,
              runTrial(pathOf(bundledStart), artifact, std::span(calls).first(1), trial));
    auto isFaster = [&](const BundledKernel &kernel) {
      auto [candidate, start] = timesOf(result, kernel);
      return !candidate.empty() && !start.empty() &&
             tune::compareTimes(candidate, start).isFaster();
    };
    if (result.isInterrupted || !result.fault.empty() ||
        std::ranges::none_of(program.kernels, isFaster))
      return result;
    TrialOptions untimed = trial;
    untimed.pairs = 0;
    TW_ASSIGN(TrialResult verified,
              runTrial(pathOf(bundledStart), artifact, std::span(calls).subspan(1), untimed));
    result.fault = verified.fault;
    result.isInterrupted = verified.isInterrupted;
    return result;
  }

  Status measure(BundledProgram &program) {
    bool isKnown = true;
    for (BundledKernel &kernel : program.kernels) {
      kernel.measured.machine = machine;
      TW_ASSIGN(std::vector<tune::Measurement> before, database->find(kernel.measured));
      isKnown &= std::ranges::any_of(
          before, [&](const tune::Measurement &each) { return each.point == kernel.point; });
    }
    if (isKnown) {
      ++known;
      return {};
    }
    // What has come to harm on the way says nothing of a candidate.
    if (auto whole = rt::openArtifact(pathOf(program.artifact), {.verify = true}); !whole) {
      notes.push_back(fmt::format("{} is left out: {}; copy the bundle again", program.artifact,
                                  whole.error().message));
      return {};
    }
    TW_ASSIGN(TrialResult result, run(program));
    if (result.isInterrupted)
      return {};
    ++measured;
    // Which of several kernels is at fault cannot be found without a compiler.
    if (!result.fault.empty() && program.kernels.size() > 1)
      notes.push_back(fmt::format("{} is left out: {}", program.artifact, result.fault));
    else
      for (const BundledKernel &kernel : program.kernels)
        TW_TRY(record(kernel, result));
    return {};
  }

  Status record(const BundledKernel &kernel, const TrialResult &result) {
    tune::Measurement measurement{
        kernel.point, {}, result.fault, {}, 0, 0, int64_t(std::time(nullptr))};
    if (result.fault.empty()) {
      auto [candidate, start] = timesOf(result, kernel);
      if (candidate.empty() || start.empty())
        return {};
      measurement.ratio = tune::compareTimes(candidate, start);
      measurement.pairs = int64_t(start.size());
      measurement.startUs = statistics(start).median;
    }
    return database->add(kernel.measured, measurement);
  }

  std::string folder, machine;
  std::optional<int> timeout;
  Bundle bundle;
  TrialOptions trial;
  std::optional<tune::Database> database;
  std::vector<KnownCall> calls;
};

} // namespace

int measureBundle(const std::string &folder, const ToleranceOptions &tolerances,
                  std::optional<int> timeout, bool json, const std::function<bool()> &goesOn) {
  BundleMeasurer measurer(folder, tolerances, timeout);
  TW_TRY_CLI(measurer.open());
  TW_TRY_CLI(measurer.measure(goesOn));
  JsonWriter report;
  report.beginObject().member("measured", int64_t(measurer.measured));
  report.member("known", int64_t(measurer.known)).member("interrupted", !goesOn());
  report.key("notes").beginArray();
  std::string text;
  for (const std::string &note : measurer.notes) {
    report.value(std::string_view(note));
    text += fmt::format("note: {}\n", note);
  }
  text += fmt::format("{} measured, {} known before{}\n", counted(measurer.measured, "program"),
                      measurer.known, goesOn() ? "" : "; interrupted");
  TW_TRY_CLI(writeResults(json ? report.endArray().endObject().text() + "\n" : text));
  return 0;
}

} // namespace tw::cli
