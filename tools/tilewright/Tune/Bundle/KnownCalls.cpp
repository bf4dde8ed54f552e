// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KnownCalls.h"
#include "IO/Element.h"
#include "IO/InputSpec.h"
#include "Support/ChildProcess.h"
#include "Support/Limits.h"
#include "tools/tilewright/Program/Program.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw::cli {

namespace {

constexpr double largeFactor = 64;

Result<HostTensor> fromSpec(const HostTensor &like, const std::string &values) {
  TW_ASSIGN(InputSpec spec, parseInputSpec(like.typeText() + "=" + values));
  return readInput(spec, std::nullopt);
}

/// `like` with other elements, if they are floats.
Result<HostTensor> changed(const HostTensor &like, const std::string &how, size_t number) {
  if (!info(like.dtype()).isFloat || like.count() == 0)
    return copyOf(like);
  if (how == "zeros")
    return HostTensor::create(like.dtype(), like.sizes());
  if (how == "random")
    return fromSpec(like, fmt::format("random:{}", 1'000 + number));
  TW_ASSIGN(HostTensor large, copyOf(like));
  size_t bytes = size_t(info(like.dtype()).bytes);
  for (std::byte *element = large.bytes().data(); element < large.bytes().data() + large.byteSize();
       element += bytes)
    storeFloat(like.dtype(), loadDouble(like.dtype(), element) * largeFactor, element);
  return large;
}

Result<std::vector<CallResult>> resultsOf(const tw_program *program,
                                          std::span<const HostTensor> inputs, int threads) {
  TW_ASSIGN(InstancePtr instance, createInstance(program, threads));
  TW_ASSIGN(std::vector<HostTensor> copies, copyOf(inputs));
  return runForResults(program, instance.get(), std::move(copies));
}

Result<std::string> differenceHere(const std::string &start, const KnownCall &call,
                                   const TrialOptions &options) {
  ProgramPtr program;
  TW_TRY(loadArtifact(start, "", /*verify=*/false, program));
  TW_ASSIGN(std::vector<CallResult> results,
            resultsOf(program.get(), call.inputs, options.threads));
  TW_ASSIGN(std::vector<OutputComparison> comparisons,
            compareResults(results, call.expected, referenceText(options), options.tolerances));
  for (const OutputComparison &comparison : comparisons)
    if (!comparison.found.same())
      return fmt::format("{} {}: {}", comparison.kind, comparison.name, comparison.found.text());
  return std::string();
}

/// What of the results of `start` is not as expected; empty if all is. In a process of its own, for
/// one that has used a GPU cannot start others that do.
Result<std::string> differenceOf(const std::string &start, const KnownCall &call,
                                 const TrialOptions &options) {
  auto end = runInChild({}, [&] {
    auto difference = differenceHere(start, call, options);
    if (difference)
      return "." + *difference;
    const Diagnostic &problem = difference.error();
    return fmt::format("{}\n{}\n{}", int(problem.code), problem.help, problem.message);
  });
  if (!end)
    return Diagnostic{Code::SYSTEM_5, fmt::format("no process can be started to run the model: {}",
                                                  std::strerror(errno))};
  if (auto fault = environmentsFault(*end, "running the model"))
    return *fault;
  if (!end->answer)
    return Diagnostic{Code::TUNE_3,
                      fmt::format("with inputs {}, the model as it is ended its process with {}",
                                  call.what, end->text()),
                      {},
                      {},
                      "tilewright check finds the dispatch at fault"};
  const std::string &answer = *end->answer;
  if (answer.starts_with("."))
    return answer.substr(1);
  size_t help = answer.find('\n') + 1, message = answer.find('\n', help) + 1;
  return Diagnostic{Code(std::stoi(answer)),
                    answer.substr(message),
                    {},
                    {},
                    answer.substr(help, message - help - 1)};
}

} // namespace

Result<std::vector<KnownCall>> knownCalls(const std::string &reference, const std::string &start,
                                          std::span<const HostTensor> inputs,
                                          const TrialOptions &options,
                                          std::vector<std::string> &notes) {
  ProgramPtr truth;
  TW_TRY(loadArtifact(reference, "", /*verify=*/false, truth));
  std::vector<KnownCall> calls;
  for (const std::string what : {"as given", "random", "zeros", "large"}) {
    KnownCall call{what, {}, {}};
    for (size_t i = 0; i < inputs.size(); ++i) {
      TW_ASSIGN(HostTensor input, calls.empty() ? copyOf(inputs[i]) : changed(inputs[i], what, i));
      call.inputs.push_back(std::move(input));
    }
    // A model may refuse what it is not made for, as indices that come of its inputs.
    // Results are the same with any number of threads, and nothing is timed here.
    auto expected = resultsOf(truth.get(), call.inputs, /*threads=*/0);
    if (!expected && calls.empty())
      return std::move(expected).error();
    if (!expected) {
      notes.push_back(
          fmt::format("inputs {} are not compared: {}", what, expected.error().message));
      continue;
    }
    call.expected = *std::move(expected);
    TW_ASSIGN(std::string difference, differenceOf(start, call, options));
    if (!difference.empty() && calls.empty())
      return Diagnostic{Code::TUNE_3,
                        fmt::format("with the inputs given, the model's results differ from those "
                                    "of {} before anything is tuned",
                                    referenceText(options)),
                        {},
                        {difference},
                        "give other inputs, or say with --rtol and --atol how far results may be "
                        "apart; tilewright check names the dispatch"};
    if (difference.empty())
      calls.push_back(std::move(call));
    else
      notes.push_back(fmt::format("inputs {} are not compared: the compiler's own choice differs "
                                  "there from {}: {}",
                                  what, referenceText(options), difference));
  }
  return calls;
}

} // namespace tw::cli
