// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright profile MODEL|OUT.so --input=SPEC ...: where the time of a call goes.
#include "../Failure.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Text.h"
#include "tools/tilewright/Commands/Commands.h"
#include "tools/tilewright/Program/Measure.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Program/Values.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

struct ProfileOptions {
  ModelOptions model;
  CallArguments call;
  MeasureOptions measure;
  std::string device, by, trace, page, before;
  bool json = false;
};

Status writeText(const std::string &path, const std::string &text) {
  std::span<const std::byte> bytes = asBytes(text);
  return path.empty() ? Status() : writeFile(path, std::span(&bytes, 1));
}

Status profileProgram(const tw_program *program, const Call &call, const ProfileOptions &options) {
  std::optional<ProfileTimes> before; // first, for it may be what is written later
  if (!options.before.empty()) {
    TW_ASSIGN(before, readProfileTimes(options.before));
  }
  TW_ASSIGN(std::vector<HostTensor> inputs, readInputs(interfaceOf(program), call.inputs));
  TW_ASSIGN(InstancePtr instance, createInstance(program, options.measure.threads));
  Recording recording(static_cast<size_t>(tw_program_describe(program)->dispatch_count));
  bool isHost = tw_program_device(program) == std::string_view("cpu");
  std::optional<RooflineSampler> limits;
  auto warm = [&] {
    limits.emplace(program, instance.get()).sample();
    return recording.start(instance.get(), isHost);
  };
  auto between = [&] {
    recording.endCall();
    limits->sampleIfCheap();
  };
  TW_ASSIGN(std::vector<double> times,
            measureCalls(program, instance.get(), inputs, options.measure, {warm, between}));
  TW_TRY(recording.stop());
  limits->sample();
  std::vector<tw_tensor> tensors;
  for (HostTensor &input : inputs)
    tensors.push_back(toRuntime(input));
  TW_ASSIGN(Profile profile, makeProfile(program, instance.get(), tensors, recording,
                                         statistics(std::move(times)), limits->found()));
  if (!options.trace.empty())
    TW_TRY(writeText(options.trace, traceText(profile, recording)));
  if (!options.page.empty())
    TW_TRY(writeText(options.page, pageText(profile, recording)));
  if (options.json)
    return writeResults(profileJson(profile));
  static const std::map<std::string, Grouping> groupings = {{"", Grouping::Dispatch},
                                                            {"dispatch", Grouping::Dispatch},
                                                            {"kernel", Grouping::Kernel},
                                                            {"module", Grouping::Module}};
  return writeResults(before ? comparisonText(profile, *before)
                             : profileText(profile, groupings.at(options.by)));
}

/// No options that cannot be meant together, and no file twice.
Status checkOptions(const ProfileOptions &options, const Call &call) {
  if (options.json && !options.before.empty())
    return Diagnostic{Code::CLI_1,
                      "--json and --compare are both given, but one of them is printed",
                      {},
                      {},
                      "leave one of them out"};
  if (!options.by.empty() && (options.json || !options.before.empty()))
    return Diagnostic{Code::CLI_1,
                      fmt::format("--by={} is given, but {} is about each dispatch", options.by,
                                  options.json ? "what --json prints" : "what --compare prints"),
                      {},
                      {},
                      "leave --by out, or print the table"};
  std::vector<std::string> read = filesRead(options.model);
  read.push_back(options.before);
  return checkFiles(std::span(&call, 1), read,
                    std::vector<std::string>{options.trace, options.page});
}

int profile(const ProfileOptions &options) {
  auto call = parseCall(options.call);
  TW_TRY_CLI(call);
  TW_TRY_CLI(checkOptions(options, *call));
  ProgramPtr program;
  if (int status = openProgram(options.model, options.device, program))
    return status;
  TW_TRY_CLI(profileProgram(program.get(), *call, options));
  return 0;
}

} // namespace

void addProfile(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App *command = app.add_subcommand("profile", "show where the time of a call goes");
  options->model.addTo(*command);
  options->model.addVerifyTo(*command);
  options->call.addInputsTo(*command);
  options->measure.addTo(*command);
  addDeviceOption(*command, options->device);
  command->add_option("--by", options->by, "rows of the table: dispatch (default), kernel, module")
      ->check(CLI::IsMember({"dispatch", "kernel", "module"}));
  command->add_option("--trace", options->trace, "file to write a trace to, for ui.perfetto.dev");
  command->add_option("--html", options->page, "file to write a page to, with plots");
  command->add_option("--compare", options->before,
                      "a profile printed with --json: show what became faster or slower since");
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return profile(*options); }; });
}

} // namespace tw::cli
