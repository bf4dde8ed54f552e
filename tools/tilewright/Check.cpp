// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright check MODEL --input=SPEC ...: are the compiled results what they should be? Against
// --expected-output where it is given, else against the same model compiled for `reference`.
#include "Commands.h"
#include "Execute.h"
#include "Expected.h"
#include "Failure.h"
#include "Program.h"
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
  bool json = false;
};

/// The outputs of all calls, executed one after the other on a fresh instance.
Result<std::vector<std::vector<HostTensor>>> runAll(const tw_program *program,
                                                    std::span<const Call> calls, int threads) {
  TW_TRY(checkOutputNames(interfaceOf(program), calls));
  TW_ASSIGN(InstancePtr instance, createInstance(program, threads));
  std::vector<std::vector<HostTensor>> all;
  for (const Call &call : calls) {
    TW_ASSIGN(std::vector<HostTensor> inputs, readInputs(interfaceOf(program), call.inputs));
    TW_TRY(execute(instance.get(), inputs));
    TW_ASSIGN(std::vector<HostTensor> outputs, takeOutputs(program, instance.get()));
    all.push_back(std::move(outputs));
  }
  return all;
}

/// Every output against the reference target's.
Result<std::vector<OutputComparison>> compareWithReference(const tw_program *program,
                                                           std::span<const HostTensor> outputs,
                                                           std::span<const HostTensor> reference,
                                                           const ToleranceOptions &tolerances) {
  std::vector<OutputComparison> comparisons;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputComparison c;
    c.name = tw_program_output(program, i)->name;
    c.against = "the reference target";
    TW_ASSIGN(c.found,
              compare(outputs[i], reference[i], fmt::format("output \"{}\"", c.name), tolerances));
    comparisons.push_back(std::move(c));
  }
  return comparisons;
}

using Comparisons = std::vector<std::vector<OutputComparison>>;

/// Outputs of the calls without an expectation are compared with `reference`, the same model.
Result<Comparisons> compareAll(const tw_program *program, const tw_program *reference,
                               std::span<const Call> calls, const CheckOptions &options) {
  TW_ASSIGN(auto outputs, runAll(program, calls, options.threads));
  std::vector<std::vector<HostTensor>> wanted;
  if (reference) {
    TW_ASSIGN(wanted, runAll(reference, calls, options.threads));
  }
  Comparisons all;
  for (size_t i = 0; i < calls.size(); ++i) {
    auto found = calls[i].expected.empty()
                     ? compareWithReference(program, outputs[i], wanted[i], options.tolerances)
                     : compareOutputs(interfaceOf(program), outputs[i], calls[i].expected,
                                      options.tolerances);
    if (!found)
      return std::move(found).error();
    all.push_back(*std::move(found));
  }
  return all;
}

bool report(const Comparisons &all, std::string &text, JsonWriter &json) {
  bool same = true;
  json.beginObject().key("calls").beginArray();
  for (size_t i = 0; i < all.size(); ++i) {
    std::string title = all.size() > 1 ? fmt::format("call {}: ", i + 1) : "";
    for (const OutputComparison &c : all[i])
      if (c.found.same())
        text += fmt::format("{}{}: {}\n", title, c.name, c.found.text());
    same &= reportDifferences(all[i], title);
    writeJson(json, all[i]);
  }
  json.endArray().member("same", same).endObject();
  return same;
}

int check(const CheckOptions &options, const Invocation &invocation) {
  auto calls = parseCalls(options.firstCall, invocation, false);
  TW_TRY_CLI(calls);
  bool allExpected = std::ranges::all_of(*calls, [](const Call &c) { return !c.expected.empty(); });
  ProgramPtr program, reference;
  if (int status = openProgram(options.model, "", program))
    return status;
  if (!allExpected) {
    auto artifact = isArtifact(options.model.model);
    TW_TRY_CLI(artifact);
    if (*artifact)
      return fail({Code::CLI_1,
                   fmt::format("{} is an artifact, so there is nothing to check it against",
                               options.model.model),
                   {},
                   {},
                   "give --expected-output for every call, or check the model"});
    ModelOptions plain = options.model;
    plain.target = "reference";
    plain.configurations.clear();
    if (int status = openProgram(plain, "", reference))
      return status;
  }
  auto all = compareAll(program.get(), reference.get(), *calls, options);
  TW_TRY_CLI(all);
  std::string text;
  JsonWriter json;
  bool same = report(*all, text, json);
  TW_TRY_CLI(writeResults(options.json ? json.text() + "\n" : text));
  return same ? 0 : static_cast<int>(Category::ResultsDiffer);
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
  command->add_option("--threads", options->threads, "0: all that this process may use")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer("--next starts another call on the same loaded model, with its own --input and\n"
                  "--expected-output: state that the model keeps is there for it.");
  command->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return check(*options, invocation); };
  });
}

} // namespace tw::cli
