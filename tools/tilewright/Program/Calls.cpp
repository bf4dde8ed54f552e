// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Calls.h"
#include "IO/OutputFile.h"
#include "Values.h"
#include <CLI/CLI.hpp>
#include <algorithm>
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

void CallArguments::addResetTo(CLI::App &app) {
  app.add_flag("--reset-state", resetsState, "begin the call with the state's initial values");
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
  call.resetsState = arguments.resetsState;
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

/// The file that a SPEC reads; empty: none.
static std::string fileOf(const InputSpec &spec) {
  if (const auto *npy = std::get_if<InputSpec::NpyFile>(&spec.source))
    return npy->path;
  const auto *raw = std::get_if<InputSpec::RawFile>(&spec.source);
  return raw ? raw->path : "";
}

std::vector<std::string> filesWritten(std::span<const Call> calls) {
  std::vector<std::string> files;
  for (const Call &call : calls)
    for (const Call::Output &output : call.outputs)
      if (!output.path.empty())
        files.push_back(output.path);
  return files;
}

Status checkFiles(std::span<const Call> calls, std::span<const std::string> sources,
                  std::span<const std::string> others) {
  FileUses files;
  for (const std::string &source : sources)
    if (!source.empty())
      files.reads(source);
  for (const Call &call : calls)
    for (const auto *specs : {&call.inputs, &call.expected})
      for (const InputSpec &spec : *specs)
        if (std::string file = fileOf(spec); !file.empty())
          files.reads(file);
  for (const std::string &file : filesWritten(calls))
    TW_TRY(files.writes(file));
  for (const std::string &file : others)
    if (!file.empty())
      TW_TRY(files.writes(file));
  return {};
}

Interface interfaceOf(const tw_program *program) {
  Interface callee{"model", {}, {}};
  for (int i = 0; const tw_value_info *input = tw_program_input(program, i); ++i)
    callee.inputs.push_back({input->name, typeText(*input), static_cast<DType>(input->dtype)});
  for (int i = 0; i < tw_program_describe(program)->output_count; ++i)
    callee.outputs.emplace_back(tw_program_output(program, i)->name);
  return callee;
}

/// "x f32[2, s0], n i64".
static std::string inputList(const Interface &callee) {
  std::string text;
  for (const Interface::Input &input : callee.inputs)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", input.name, input.type);
  return text.empty() ? "none" : text;
}

static Diagnostic inputError(const Interface &callee, std::string message) {
  return {Code::CLI_5,
          std::move(message),
          {},
          {fmt::format("the inputs are: {}", inputList(callee))},
          "give each once, in this order or as --input=NAME=SPEC"};
}

/// Which SPEC each input takes: an index into specs.
static Result<std::vector<int>> assignInputs(const Interface &callee,
                                             std::span<const InputSpec> specs) {
  std::vector<int> chosen(callee.inputs.size(), -1);
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::string &name = specs[i].name;
    if (name.empty())
      continue;
    auto found = std::ranges::find(callee.inputs, name, &Interface::Input::name);
    if (found == callee.inputs.end())
      return inputError(callee, fmt::format("the {} has no input \"{}\"", callee.what, name));
    int &place = chosen[found - callee.inputs.begin()];
    if (place >= 0)
      return inputError(callee, fmt::format("input \"{}\" is given twice", name));
    place = static_cast<int>(i);
  }
  size_t next = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!specs[i].name.empty())
      continue;
    while (next < chosen.size() && chosen[next] >= 0)
      ++next;
    if (next == chosen.size())
      return inputError(callee, fmt::format("the {} takes {} inputs, but {} are given", callee.what,
                                            chosen.size(), specs.size()));
    chosen[next] = static_cast<int>(i);
  }
  std::string missing;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] < 0)
      missing += fmt::format("{}\"{}\"", missing.empty() ? "" : ", ", callee.inputs[i].name);
  if (!missing.empty())
    return inputError(callee, fmt::format("no value is given for input {}", missing));
  return chosen;
}

Result<std::vector<InputSpec>> specsInOrder(const Interface &callee,
                                            std::span<const InputSpec> specs) {
  TW_ASSIGN(std::vector<int> chosen, assignInputs(callee, specs));
  std::vector<InputSpec> ordered;
  for (int each : chosen)
    ordered.push_back(specs[each]);
  return ordered;
}

Result<std::vector<HostTensor>> readInputs(const Interface &callee,
                                           std::span<const InputSpec> specs) {
  TW_ASSIGN(std::vector<int> chosen, assignInputs(callee, specs));
  std::vector<HostTensor> tensors;
  for (size_t i = 0; i < chosen.size(); ++i) {
    TW_ASSIGN(HostTensor tensor, readInput(specs[chosen[i]], callee.inputs[i].dtype));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<std::vector<int>> findOutputs(const Interface &callee, std::span<const std::string> names) {
  std::vector<int> found;
  for (size_t i = 0; i < names.size(); ++i) {
    auto place = names[i].empty() ? callee.outputs.begin() + std::min(i, callee.outputs.size())
                                  : std::ranges::find(callee.outputs, names[i]);
    if (place != callee.outputs.end()) {
      found.push_back(static_cast<int>(place - callee.outputs.begin()));
      continue;
    }
    std::string list;
    for (const std::string &output : callee.outputs)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", output);
    return Diagnostic{Code::CLI_6,
                      names[i].empty()
                          ? fmt::format("the {} has {} outputs, but {} are asked for", callee.what,
                                        callee.outputs.size(), names.size())
                          : fmt::format("the {} has no output \"{}\"", callee.what, names[i]),
                      {},
                      {fmt::format("the outputs are: {}", list)},
                      {}};
  }
  return found;
}

Status checkOutputNames(const Interface &callee, std::span<const Call> calls) {
  for (const Call &call : calls) {
    std::vector<std::string> written, expected;
    for (const Call::Output &output : call.outputs)
      written.push_back(output.name);
    for (const InputSpec &spec : call.expected)
      expected.push_back(spec.name);
    TW_TRY(findOutputs(callee, written));
    TW_TRY(findOutputs(callee, expected));
  }
  return {};
}

} // namespace tw::cli
