// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Trial.h"
#include "../Failure.h"
#include "../Machine.h"
#include "CandidateLimits.h"
#include "IO/Formats/Json.h"
#include "IO/Formats/JsonWriter.h"
#include "Opponents.h"
#include "Support/ChildProcess.h"
#include "runtime/Artifact/Artifact.h"
#include "runtime/Device/CudaDriver.h"
#include "tools/tilewright/Compiler/ModelOptions.h"
#include "tools/tilewright/Program/Program.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <set>

namespace tw::cli {

std::vector<int> coresOfCalls(int threads) {
  std::vector<int> cores = usableCores();
  if (threads == 0 || size_t(threads) >= cores.size())
    return {};
  cores.resize(size_t(threads));
  return cores;
}

std::string threadsText(int threads) {
  if (threads <= usableThreads())
    return "";
  return fmt::format(
      "calls have {} threads, but this process may use {} cores: what is measured is "
      "of threads that wait for each other",
      threads, usableThreads());
}

static std::string gpuModel() {
  auto driver = rt::CudaDriver::get("cuda");
  auto facts = driver ? (*driver)->describe(0) : Result<rt::DeviceFacts>(driver.error());
  return facts ? facts->model + "; " : "";
}

Result<std::string> machineText(const std::string &target, int threads) {
  std::string gpu;
  if (isForGpu(target)) {
    // A process that has opened the driver cannot start others that use it.
    auto end = runInChild({}, gpuModel);
    if (!end)
      return Diagnostic{
          Code::SYSTEM_5,
          fmt::format("no process can be started to look for GPUs: {}", std::strerror(errno))};
    gpu = end->answer.value_or("");
  }
  return fmt::format("{}{}; {}; {} threads", gpu, cpuModel(), fmt::join(cpuFeatures(), " "),
                     threads ? threads : usableThreads());
}

std::string referenceText(const TrialOptions &options) {
  return fmt::format("the {} target", options.reference);
}

std::string driftText(double beforeUs, double afterUs) {
  constexpr double much = 1.1; // more than what calls of one program differ by
  if (afterUs == 0 || (afterUs < beforeUs * much && beforeUs < afterUs * much))
    return "";
  return fmt::format(
      "the machine has changed: a call of the program that the search began with took {:.1f} us "
      "before and {:.1f} us after it; ratios are of calls that followed each other",
      beforeUs, afterUs);
}

std::string disagreementText(const tune::TimeRatio &before, const tune::TimeRatio &after) {
  constexpr double much = 0.02; // more than what two measurements of a quiet machine differ by
  if (after.low < before.high + much && before.low < after.high + much)
    return "";
  return fmt::format(
      "compared once more, what is chosen takes {:.3f} of the time instead of {:.3f}: the machine "
      "was busy with something else, and what a search finds is worth most on a quiet one",
      after.median, before.median);
}

std::string rooflineText(double share) {
  constexpr double most = 1.1; // by which two measurements of a quiet machine differ
  if (share < most)
    return "";
  return fmt::format(
      "a kernel reaches {:.0f} % of the roofline: its data were in a nearer cache than the "
      "model's are together, or the machine was busy with something else when its limits were "
      "measured",
      100 * share);
}

Result<HostTensor> copyOf(const HostTensor &tensor) {
  TW_ASSIGN(HostTensor copy, HostTensor::create(tensor.dtype(), tensor.sizes()));
  std::ranges::copy(tensor.bytes(), copy.bytes().begin());
  return copy;
}

Result<std::vector<HostTensor>> copyOf(std::span<const HostTensor> tensors) {
  std::vector<HostTensor> copies;
  for (const HostTensor &tensor : tensors) {
    TW_ASSIGN(HostTensor copy, copyOf(tensor));
    copies.push_back(std::move(copy));
  }
  return copies;
}

//===----------------------------------------------------------------------===//
// In the child process
//===----------------------------------------------------------------------===//

namespace {

/// Calls of microseconds vary by more than what is looked for: so many times the pairs, while they
/// take no longer than this.
constexpr int mostOfShortCalls = 15;
constexpr std::chrono::milliseconds timeOfShortCalls(250);

/// Why the results of a call are wrong, or not the same twice; empty if they are right.
Result<std::string> wrongResults(const tw_program *program, const KnownCall &call,
                                 const TrialOptions &options) {
  std::vector<CallResult> first;
  for (bool again : {false, true}) {
    TW_ASSIGN(InstancePtr instance, createInstance(program, options.threads));
    TW_ASSIGN(std::vector<HostTensor> inputs, copyOf(call.inputs));
    TW_ASSIGN(std::vector<CallResult> results,
              runForResults(program, instance.get(), std::move(inputs)));
    if (again) {
      for (size_t i = 0; i < results.size(); ++i)
        if (!std::ranges::equal(results[i].value.bytes(), first[i].value.bytes()))
          return fmt::format("inputs {}: {} {} differs from one call to the next", call.what,
                             results[i].kind, results[i].name);
      break;
    }
    TW_ASSIGN(std::vector<OutputComparison> comparisons,
              compareResults(results, call.expected, referenceText(options), options.tolerances));
    for (const OutputComparison &comparison : comparisons)
      if (!comparison.found.same())
        return fmt::format("inputs {}: {} {}: {}", call.what, comparison.kind, comparison.name,
                           comparison.found.text());
    first = std::move(results);
  }
  return std::string();
}

Result<TrialResult> tryHere(const std::string &start, const std::string &candidate,
                            std::span<const KnownCall> calls, const TrialOptions &options) {
  TrialResult result;
  {
    ProgramPtr program;
    TW_TRY(loadArtifact(candidate, "", /*verify=*/false, program));
    for (const KnownCall &call : calls) {
      TW_ASSIGN(result.fault, wrongResults(program.get(), call, options));
      if (!result.fault.empty())
        return result;
    }
  }
  if (options.pairs == 0)
    return result;
  Opponents opponents;
  auto end = std::chrono::steady_clock::now() + timeOfShortCalls;
  for (int pair = 0; pair < options.pairs * mostOfShortCalls; ++pair) {
    if (pair >= options.pairs && std::chrono::steady_clock::now() > end)
      break;
    if (opponents.areToBeLoaded(pair)) {
      auto before = std::chrono::steady_clock::now();
      TW_TRY(opponents.load(start, candidate, calls.front().inputs, options.threads));
      end += std::chrono::steady_clock::now() - before;
    }
    TW_TRY(opponents.time(/*isCandidateFirst=*/pair % 2 == 1, result));
  }
  opponents.readBytes(result);
  return result;
}

void write(JsonWriter &json, const ProgramCosts &times) {
  json.beginObject().member("bytes", times.bytes).key("call").beginArray();
  for (double us : times.call)
    json.value(us);
  json.endArray().key("dispatches").beginArray();
  for (const auto &[kernels, all] : times.dispatches) {
    json.beginObject().key("kernels").beginArray();
    for (const std::string &kernel : kernels)
      json.value(std::string_view(kernel));
    json.endArray().key("us").beginArray();
    for (double us : all)
      json.value(us);
    json.endArray().endObject();
  }
  json.endArray().endObject();
}

std::string answerOf(const Result<TrialResult> &result) {
  JsonWriter json;
  json.beginObject();
  json.member("fault", result ? result->fault : result.error().message);
  if (result) {
    write(json.key("start"), result->start);
    write(json.key("candidate"), result->candidate);
  }
  return json.endObject().text();
}

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

Status readNumbers(const Json &list, std::vector<double> &numbers) {
  return list.forEach([&](const Json &each) -> Status {
    TW_ASSIGN(double number, each.number());
    numbers.push_back(number);
    return {};
  });
}

Status readTimes(const Json &object, ProgramCosts &times) {
  TW_ASSIGN(Json bytes, object.get("bytes"));
  TW_ASSIGN(times.bytes, bytes.integer());
  TW_ASSIGN(Json call, object.get("call"));
  TW_TRY(readNumbers(call, times.call));
  TW_ASSIGN(Json dispatches, object.get("dispatches"));
  return dispatches.forEach([&](const Json &dispatch) -> Status {
    TW_ASSIGN(Json names, dispatch.get("kernels"));
    TW_ASSIGN(std::vector<std::string> kernels, names.strings());
    TW_ASSIGN(Json us, dispatch.get("us"));
    return readNumbers(us, times.dispatches[std::move(kernels)]);
  });
}

Result<TrialResult> readAnswer(const std::string &answer) {
  TW_ASSIGN(JsonDocument document, JsonDocument::parse(answer, "a candidate's answer"));
  TrialResult result;
  TW_ASSIGN(Json fault, document.root().get("fault"));
  TW_ASSIGN(std::string_view text, fault.string());
  result.fault = text;
  if (auto times = document.root().find("start"))
    TW_TRY(readTimes(*times, result.start));
  if (auto times = document.root().find("candidate"))
    TW_TRY(readTimes(*times, result.candidate));
  return result;
}

} // namespace

std::pair<std::vector<double>, std::vector<double>> timesOf(const TrialResult &result,
                                                            const std::string &kernel) {
  std::set<std::string> together = {kernel};
  auto isPart = [&](const auto &dispatch) {
    return std::ranges::any_of(dispatch.first,
                               [&](const std::string &name) { return together.contains(name); });
  };
  for (size_t before = 0; before != together.size();) {
    before = together.size();
    for (const ProgramCosts *times : {&result.candidate, &result.start})
      for (const auto &dispatch : times->dispatches)
        if (isPart(dispatch))
          together.insert(dispatch.first.begin(), dispatch.first.end());
  }
  auto sum = [&](const ProgramCosts &times) {
    std::vector<double> total;
    for (const auto &dispatch : times.dispatches)
      if (isPart(dispatch)) {
        total.resize(dispatch.second.size());
        std::ranges::transform(total, dispatch.second, total.begin(), std::plus());
      }
    return total;
  };
  return {sum(result.candidate), sum(result.start)};
}

Result<TrialResult> runTrial(const std::string &start, const std::string &candidate,
                             std::span<const KnownCall> calls, const TrialOptions &options) {
  ChildLimits limits;
  limits.seconds = options.seconds;
  // Drivers of GPUs take addresses without memory, which are what is limited.
  auto program = rt::openArtifact(candidate);
  if (program && !isForGpu(program->metadata.target))
    limits.bytes = memoryForCandidate({start, candidate});
  auto end = runInChild(limits, [&] {
    if (!options.cores.empty())
      stayOn(options.cores);
    return answerOf(tryHere(start, candidate, calls, options));
  });
  if (!end)
    return Diagnostic{
        Code::SYSTEM_5,
        fmt::format("no process can be started to measure a candidate: {}", std::strerror(errno))};
  TrialResult result;
  if (end->answer) {
    // What a candidate has overwritten may be the answer, too.
    if (auto read = readAnswer(*end->answer))
      return read;
    result.fault = "it answered with something else than times";
  } else if (!end->isInTime) {
    result.fault = fmt::format("it took longer than {} s", *options.seconds);
  } else if (end->isInterrupted) {
    result.isInterrupted = true;
  } else {
    result.fault = fmt::format("it ended with {}", end->text());
  }
  return result;
}

} // namespace tw::cli
