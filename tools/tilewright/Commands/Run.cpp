// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright run MODEL|OUT.so --input=SPEC ... [--next --input=SPEC ...]
#include "Commands.h"
#include "IO/Formats/Npy.h"
#include "tools/tilewright/Failure.h"
#include "tools/tilewright/Program/Execute.h"
#include "tools/tilewright/Program/Expected.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Program/Values.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

/// Of an output, --json gives the values up to this many.
constexpr int64_t jsonValues = 1000;

struct RunOptions {
  ModelOptions model;
  CallArguments firstCall;
  ToleranceOptions tolerances;
  std::string device, outputAs = "own";
  int threads = 0, repeat = 1;
  bool json = false, noGraphs = false;
};

/// A call and what came of it.
struct CallResult {
  const Call *call;
  std::string title; // "call 2: ", or empty when there is only one
  std::vector<HostTensor> outputs;
  std::vector<OutputComparison> comparisons;
};

/// Executes all calls `repeat` times on one instance; the results are those of the last time.
Result<std::vector<CallResult>> runCalls(const tw_program *program, std::span<const Call> calls,
                                         const RunOptions &options) {
  std::vector<std::vector<HostTensor>> inputs;
  for (const Call &call : calls) {
    TW_ASSIGN(std::vector<HostTensor> tensors, readInputs(interfaceOf(program), call.inputs));
    inputs.push_back(std::move(tensors));
  }
  TW_TRY(checkOutputNames(interfaceOf(program), calls));
  TW_ASSIGN(InstancePtr instance, createInstance(program, options.threads, !options.noGraphs));
  std::vector<CallResult> results;
  for (int time = 1; time <= options.repeat; ++time)
    for (size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].resetsState)
        TW_TRY(fromRuntime(tw_instance_state_reset(instance.get(), nullptr)));
      TW_TRY(execute(instance.get(), inputs[i]));
      if (time < options.repeat)
        continue;
      std::string title = calls.size() > 1 ? fmt::format("call {}: ", i + 1) : "";
      TW_ASSIGN(std::vector<HostTensor> outputs, takeOutputs(program, instance.get()));
      results.push_back({&calls[i], title, std::move(outputs), {}});
    }
  return results;
}

Status writeFiles(const tw_program *program, const CallResult &result, NpyBFloat16 bfloat16) {
  std::vector<std::string> names;
  names.reserve(result.call->outputs.size());
  for (const Call::Output &output : result.call->outputs)
    names.push_back(output.name);
  TW_ASSIGN(std::vector<int> indices, findOutputs(interfaceOf(program), names));
  for (size_t i = 0; i < indices.size(); ++i)
    TW_TRY(writeNpy(result.call->outputs[i].path, result.outputs[indices[i]], bfloat16));
  return {};
}

std::string resultText(const tw_program *program, const CallResult &result) {
  std::string text;
  bool printed = result.call->outputs.empty() && result.call->expected.empty();
  for (size_t i = 0; i < result.outputs.size() && printed; ++i)
    text += fmt::format("{}{}: {} =\n{}\n", result.title, tw_program_output(program, i)->name,
                        result.outputs[i].typeText(), valuesText(result.outputs[i]));
  for (int i = 0; const tw_fixed_output *fixed = tw_program_fixed_output(program, i); ++i)
    if (printed)
      text += fmt::format("{}{}: {} in every call\n", result.title, fixed->name,
                          fixed->text ? fmt::format("\"{}\"", fixed->text) : "None");
  for (const OutputComparison &comparison : result.comparisons)
    if (comparison.found.same())
      text += fmt::format("{}{}: {}\n", result.title, comparison.name, comparison.found.text());
  return text;
}

void writeFixed(JsonWriter &json, const tw_program *program) {
  json.beginArray();
  for (int i = 0; const tw_fixed_output *fixed = tw_program_fixed_output(program, i); ++i) {
    json.beginObject().member("name", fixed->name).member("position", fixed->position).key("value");
    (fixed->text ? json.value(std::string_view(fixed->text)) : json.null()).endObject();
  }
  json.endArray();
}

void writeCall(JsonWriter &json, const tw_program *program, const CallResult &result) {
  json.beginObject().key("outputs").beginArray();
  for (size_t i = 0; i < result.outputs.size(); ++i)
    writeJson(json, tw_program_output(program, i)->name, result.outputs[i], jsonValues);
  json.endArray();
  if (tw_program_fixed_output(program, 0))
    writeFixed(json.key("fixed_outputs"), program);
  if (!result.call->expected.empty())
    writeJson(json.key("comparisons"), result.comparisons);
  json.endObject();
}

std::string resultJson(const tw_program *program, std::span<const CallResult> results) {
  JsonWriter json;
  json.beginObject().key("calls").beginArray();
  for (const CallResult &result : results)
    writeCall(json, program, result);
  return json.endArray().endObject().text() + "\n";
}

int run(const RunOptions &options, const Invocation &invocation) {
  auto calls = parseCalls(options.firstCall, invocation, true);
  TW_TRY_CLI(calls);
  TW_TRY_CLI(checkFiles(*calls, filesRead(options.model)));
  ModelOptions model = options.model;
  model.written = filesWritten(*calls);
  ProgramPtr program;
  if (int status = openProgram(model, options.device, program))
    return status;
  auto results = runCalls(program.get(), *calls, options);
  TW_TRY_CLI(results);
  std::string text;
  bool same = true;
  for (CallResult &result : *results) {
    TW_TRY_CLI(writeFiles(program.get(), result,
                          options.outputAs == "f32" ? NpyBFloat16::AsF32 : NpyBFloat16::AsU16));
    auto comparisons = compareOutputs(interfaceOf(program.get()), result.outputs,
                                      result.call->expected, options.tolerances);
    TW_TRY_CLI(comparisons);
    result.comparisons = *std::move(comparisons);
    text += resultText(program.get(), result);
    same &= reportDifferences(result.comparisons, result.title);
  }
  TW_TRY_CLI(writeResults(options.json ? resultJson(program.get(), *results) : text));
  return same ? 0 : static_cast<int>(Category::ResultsDiffer);
}

} // namespace

void addRun(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "run a model or an artifact");
  options->model.addTo(*command);
  options->model.addVerifyTo(*command);
  options->firstCall.addInputsTo(*command);
  options->firstCall.addOutputsTo(*command);
  options->firstCall.addExpectedTo(*command);
  options->firstCall.addResetTo(*command);
  options->tolerances.addTo(*command);
  command->add_option("--output-as", options->outputAs, "f32: write bf16 widened; own: as u16 bits")
      ->check(CLI::IsMember({"own", "f32"}));
  command
      ->add_option("--threads", options->threads,
                   "threads of a call; 0 (default): all cores that this process may use")
      ->check(CLI::Range(0, 1024));
  addDeviceOption(*command, options->device);
  addNoGraphsOption(*command, options->noGraphs);
  command->add_option("--repeat", options->repeat, "run the calls this many times")
      ->check(CLI::Range(1, 1'000'000'000));
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "--next starts another call on the same loaded model, with its own --input, "
      "--output\nand --expected-output; state that the model keeps carries over, unless "
      "--reset-state is there.");
  command->callback([options, &invocation] {
    invocation.action = [options, &invocation] { return run(*options, invocation); };
  });
}

} // namespace tw::cli
