// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Calls.h"
#include "Values.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tw::cli {

void CallArguments::addInputsTo(CLI::App &app) {
  app.add_option("--input", inputs,
                 "[NAME=]SPEC: @file.npy, 2x3xf32=1,2,3,4,5,6, 2x3xf32=0, 2x3xf32=random:SEED, "
                 "2x3xf32=@raw.bin, i64=5")
      ->type_name("SPEC")
      ->allow_extra_args(false);
}

void CallArguments::addOutputsTo(CLI::App &app) {
  app.add_option("--output", outputs, "[NAME=]@file.npy: where to write an output")
      ->type_name("@FILE")
      ->allow_extra_args(false);
}

void CallArguments::addExpectedTo(CLI::App &app) {
  app.add_option("--expected-output,--expected_output", expected,
                 "[NAME=]SPEC: what an output should be")
      ->type_name("SPEC")
      ->allow_extra_args(false);
}

static Result<Call::Output> parseOutput(const std::string &text) {
  size_t at = text.starts_with('@') ? 0 : text.find("=@");
  std::string name = at == 0 || at == text.npos ? "" : text.substr(0, at);
  std::string path = at == text.npos ? "" : text.substr(at + (at == 0 ? 1 : 2));
  if (path.empty())
    return Diagnostic{Code::CLI_1,
                      fmt::format("output \"{}\" is not a file to write to", text),
                      {},
                      {},
                      "write --output=@y.npy, or --output=NAME=@y.npy"};
  return Call::Output{name, path};
}

Result<Call> parseCall(const CallArguments &arguments) {
  Call call;
  for (const std::string &text : arguments.inputs) {
    TW_ASSIGN(InputSpec spec, parseInputSpec(text));
    call.inputs.push_back(std::move(spec));
  }
  for (const std::string &text : arguments.outputs) {
    TW_ASSIGN(Call::Output output, parseOutput(text));
    call.outputs.push_back(std::move(output));
  }
  for (const std::string &text : arguments.expected) {
    TW_ASSIGN(InputSpec spec, parseInputSpec(text));
    call.expected.push_back(std::move(spec));
  }
  return call;
}

/// "x f32[2, s0], n i64".
static std::string inputList(const tw_program *program) {
  std::string text;
  for (int i = 0; const tw_value_info *input = tw_program_input(program, i); ++i)
    text += fmt::format("{}{} {}", i ? ", " : "", input->name, typeText(*input));
  return text.empty() ? "none" : text;
}

static Diagnostic inputError(const tw_program *program, std::string message) {
  return {Code::CLI_5,
          std::move(message),
          {},
          {fmt::format("the inputs are: {}", inputList(program))},
          "give each once, in this order or as --input=NAME=SPEC"};
}

/// Which SPEC each input takes: an index into specs.
static Result<std::vector<int>> assignInputs(const tw_program *program,
                                             std::span<const InputSpec> specs) {
  std::vector<int> chosen(tw_program_describe(program)->input_count, -1);
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::string &name = specs[i].name;
    int index = name.empty() ? -1 : tw_program_find_input(program, name.c_str());
    if (!name.empty() && index < 0)
      return inputError(program, fmt::format("the model has no input \"{}\"", name));
    if (index >= 0 && chosen[index] >= 0)
      return inputError(program, fmt::format("input \"{}\" is given twice", name));
    if (index >= 0)
      chosen[index] = static_cast<int>(i);
  }
  size_t next = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].name.empty())
      continue;
    while (next < chosen.size() && chosen[next] >= 0)
      ++next;
    if (next == chosen.size())
      return inputError(program, fmt::format("the model takes {} inputs, but {} are given",
                                             chosen.size(), specs.size()));
    chosen[next] = static_cast<int>(i);
  }
  std::string missing;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] < 0)
      missing +=
          fmt::format("{}\"{}\"", missing.empty() ? "" : ", ", tw_program_input(program, i)->name);
  if (!missing.empty())
    return inputError(program, fmt::format("no value is given for input {}", missing));
  return chosen;
}

Result<std::vector<HostTensor>> readInputs(const tw_program *program,
                                           std::span<const InputSpec> specs) {
  TW_ASSIGN(std::vector<int> chosen, assignInputs(program, specs));
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < chosen.size(); ++i) {
    DType wanted = static_cast<DType>(tw_program_input(program, i)->dtype);
    TW_ASSIGN(HostTensor tensor, readInput(specs[chosen[i]], wanted));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<std::vector<int>> findOutputs(const tw_program *program,
                                     std::span<const std::string> names) {
  std::vector<int> found;
  int count = tw_program_describe(program)->output_count;
  for (size_t i = 0; i < names.size(); ++i) {
    int index =
        names[i].empty() ? static_cast<int>(i) : tw_program_find_output(program, names[i].c_str());
    if (index >= 0 && index < count) {
      found.push_back(index);
      continue;
    }
    std::string list;
    for (int k = 0; k < count; ++k)
      list += fmt::format("{}{}", k ? ", " : "", tw_program_output(program, k)->name);
    return Diagnostic{
        Code::CLI_6,
        names[i].empty()
            ? fmt::format("the model has {} outputs, but {} are asked for", count, names.size())
            : fmt::format("the model has no output \"{}\"", names[i]),
        {},
        {fmt::format("the outputs are: {}", list)},
        {}};
  }
  return found;
}

Status checkOutputNames(const tw_program *program, std::span<const Call> calls) {
  for (const Call &call : calls) {
    std::vector<std::string> written, expected;
    for (const Call::Output &output : call.outputs)
      written.push_back(output.name);
    for (const InputSpec &spec : call.expected)
      expected.push_back(spec.name);
    TW_TRY(findOutputs(program, written));
    TW_TRY(findOutputs(program, expected));
  }
  return {};
}

} // namespace tw::cli
