// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright check MODEL --input=SPEC ...: are the compiled results what they should be? Against
// --expected-output where it is given, else against the same model compiled for `reference`. Where
// they are not, it says which dispatch is at fault.
#include "FirstDifference.h"
#include "tools/tilewright/Commands/Commands.h"
#include "tools/tilewright/Compiler/RunIsolated.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/CallResults.h"
#include "tools/tilewright/Program/Expected.h"
#include "tools/tilewright/Program/Program.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

struct CheckOptions {
  ModelOptions model;
  CallArguments firstCall;
  ToleranceOptions tolerances;
  int threads = 0;
  bool dispatches = false, interprets = false, json = false;
};

/// The results of all calls, executed one after the other on a fresh instance: outputs first.
Result<std::vector<std::vector<CallResult>>> runAll(const tw_program *program,
                                                    std::span<const Call> calls, int threads) {
  TW_TRY(checkOutputNames(interfaceOf(program), calls));
  TW_ASSIGN(InstancePtr instance, createInstance(program, threads));
  std::vector<std::vector<CallResult>> all;
  for (const Call &call : calls) {
    TW_ASSIGN(std::vector<HostTensor> inputs, readInputs(interfaceOf(program), call.inputs));
    TW_ASSIGN(std::vector<CallResult> results,
              runForResults(program, instance.get(), std::move(inputs)));
    all.push_back(std::move(results));
  }
  return all;
}

std::vector<HostTensor> outputsOf(std::vector<CallResult> &results) {
  std::vector<HostTensor> outputs;
  for (CallResult &result : results)
    if (result.kind == std::string_view("output"))
      outputs.push_back(std::move(result.value));
  return outputs;
}

using Comparisons = std::vector<std::vector<OutputComparison>>;

/// Outputs of the calls without an expectation are compared with `reference`, the same model.
Result<Comparisons> compareAll(const tw_program *program, const tw_program *reference,
                               std::span<const Call> calls, const CheckOptions &options) {
  TW_ASSIGN(auto results, runAll(program, calls, options.threads));
  std::vector<std::vector<CallResult>> wanted;
  if (reference) {
    TW_ASSIGN(wanted, runAll(reference, calls, options.threads));
  }
  Comparisons all;
  for (size_t i = 0; i < calls.size(); ++i) {
    auto found =
        calls[i].expected.empty()
            ? compareResults(results[i], wanted[i], "the reference target", options.tolerances)
            : compareOutputs(interfaceOf(program), outputsOf(results[i]), calls[i].expected,
                             options.tolerances);
    if (!found)
      return std::move(found).error();
    all.push_back(*std::move(found));
  }
  return all;
}

/// Outputs are what one expects; others are named.
std::string kindText(const OutputComparison &c) {
  return c.kind == std::string_view("output") ? "" : fmt::format("{} ", c.kind);
}

/// Leaves the JSON object open.
bool report(const Comparisons &all, std::string &text, JsonWriter &json) {
  bool same = true;
  json.beginObject().key("calls").beginArray();
  for (size_t i = 0; i < all.size(); ++i) {
    std::string title = all.size() > 1 ? fmt::format("call {}: ", i + 1) : "";
    for (const OutputComparison &c : all[i])
      if (c.found.same())
        text += fmt::format("{}{}{}: {}\n", title, kindText(c), c.name, c.found.text());
    same &= reportDifferences(all[i], title);
    writeJson(json, all[i]);
  }
  json.endArray().member("same", same);
  return same;
}

/// Products of operands that are rounded are as exact as tensors of their type.
ToleranceOptions tolerancesOf(const CheckOptions &options) {
  ToleranceOptions tolerances = options.tolerances;
  if (options.model.precision == "bf16")
    tolerances.computedIn = DType::BF16;
  if (options.model.precision == "tf32")
    tolerances.computedIn = DType::F16; // with a mantissa as long
  return tolerances;
}

/// Compares dispatch by dispatch, and says which one is the first that is at fault where there is
/// one, or results differ; an exit status.
int checkDispatches(const CheckOptions &options, std::span<const Call> calls, bool same,
                    std::string &text, JsonWriter &json) {
  ModelOptions model = options.model;
  model.values = true;
  ProgramPtr program, reference;
  rt::Metadata ofProgram, ofReference;
  if (int status = openProgram(model, "", program, &ofProgram))
    return status;
  if (int status = openProgram(asTarget(model, "reference"), "", reference, &ofReference))
    return status;
  CheckedProgram compiled{program.get(), ofProgram}, truth{reference.get(), ofReference};
  auto found = compareDispatches(compiled, truth, calls, options.tolerances, options.threads,
                                 options.interprets);
  TW_TRY_CLI(found);
  writeJson(json.key("dispatches"), *found, compiled, truth);
  if (!same || found->first || !found->kernels.empty())
    return fail(describe(*found, compiled, truth));
  text += summary(*found, compiled);
  return 0;
}

/// Why dispatches cannot be compared, and what to do; nothing if they can be.
Result<std::optional<Diagnostic>> whyNoDispatches(const CheckOptions &options) {
  TW_ASSIGN(bool artifact, isArtifact(options.model.model));
  if (artifact)
    return std::optional(
        Diagnostic{Code::CLI_1,
                   fmt::format("{} is an artifact, whose dispatches do not say what they compute",
                               options.model.model),
                   {},
                   {},
                   "leave --dispatches and --interpret out, or check the model"});
  if (options.model.target == "reference")
    return std::optional(Diagnostic{
        Code::CLI_1,
        "dispatches are compared with the reference target's, but --target=reference is given",
        {},
        {},
        "leave --dispatches and --interpret out, or give another --target"});
  return std::optional<Diagnostic>();
}

/// Opens the model for the reference target; an exit status.
int openReference(const CheckOptions &options, ProgramPtr &reference) {
  auto artifact = isArtifact(options.model.model);
  TW_TRY_CLI(artifact);
  if (*artifact)
    return fail({Code::CLI_1,
                 fmt::format("{} is an artifact, so there is nothing to check it against",
                             options.model.model),
                 {},
                 {},
                 "give --expected-output for every call, or check the model"});
  return openProgram(asTarget(options.model, "reference"), "", reference);
}

int check(CheckOptions options, const Invocation &invocation) {
  options.tolerances = tolerancesOf(options);
  auto calls = parseCalls(options.firstCall, invocation, false);
  TW_TRY_CLI(calls);
  bool allExpected = std::ranges::all_of(*calls, [](const Call &c) { return !c.expected.empty(); });
  bool wantsDispatches = options.dispatches || options.interprets;
  auto whyNot = whyNoDispatches(options);
  TW_TRY_CLI(whyNot);
  if (wantsDispatches && *whyNot)
    return fail(**whyNot);
  ProgramPtr program, reference;
  if (int status = openProgram(options.model, "", program))
    return status;
  if (!allExpected)
    if (int status = openReference(options, reference))
      return status;
  auto all = compareAll(program.get(), reference.get(), *calls, options);
  TW_TRY_CLI(all);
  std::string text;
  JsonWriter json;
  bool same = report(*all, text, json);
  constexpr int differs = static_cast<int>(Category::ResultsDiffer);
  if (wantsDispatches || (!same && !*whyNot)) {
    int status = checkDispatches(options, *calls, same, text, json);
    if (status != 0 && status != differs)
      return status;
    same &= status == 0;
  }
  json.endObject();
  TW_TRY_CLI(writeResults(options.json ? json.text() + "\n" : text));
  return same ? 0 : differs;
}

} // namespace

void addCheck(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App *command = app.add_subcommand(
      "check", "compare results with expected ones, or with the reference target's");
  options->model.addTo(*command);
  options->model.addVerifyTo(*command);
  options->firstCall.addInputsTo(*command);
  options->firstCall.addExpectedTo(*command);
  options->tolerances.addTo(*command);
  command
      ->add_option("--threads", options->threads,
                   "threads of a call; 0 (default): all cores that this process may use")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--dispatches", options->dispatches,
                    "compare each dispatch with the reference target, even if the results agree");
  command->add_flag("--interpret", options->interprets,
                    "also compare kernels with the results of the interpreter");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer("--next starts another call on the same loaded model, with its own --input and\n"
                  "--expected-output; state that the model keeps carries over.");
  command->callback([options, &invocation] {
    invocation.action = [options, &invocation] {
      if (!options->interprets)
        return check(*options, invocation);
      // For it holds a part of the compiler.
      auto status = runIsolated("checking " + options->model.model,
                                [&] { return check(*options, invocation); });
      TW_TRY_CLI(status);
      return *status;
    };
  });
}

} // namespace tw::cli
