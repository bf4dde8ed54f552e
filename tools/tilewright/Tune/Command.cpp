// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright tune MODEL --input=SPEC ... -o FILE: looks for faster configurations of the kernels.
// tilewright tune MODEL --space: what there is to choose from.
#include "../Commands.h"
#include "../Failure.h"
#include "../Program.h"
#include "../Values.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Report.h"
#include "SpecText.h"
#include <CLI/CLI.hpp>
#include <csignal>
#include <fmt/format.h>
#include <memory>

namespace tw::cli {

namespace {

struct CommandOptions {
  TuneOptions tune;
  CallArguments call;
  SpaceQuery query;
  std::string output, page, space; // space: empty, "text" or "smtlib"
  bool json = false;
};

/// Set by the first signal; the next one ends the process.
volatile std::sig_atomic_t isInterrupted = 0;

/// While one exists, the first INT or TERM asks for the end instead of being it.
class AskedToEnd {
public:
  AskedToEnd() {
    struct sigaction action = {};
    action.sa_handler = [](int) { isInterrupted = 1; };
    action.sa_flags = int(SA_RESETHAND);
    sigaction(SIGINT, &action, &interrupt);
    sigaction(SIGTERM, &action, &terminate);
  }
  AskedToEnd(const AskedToEnd &) = delete;
  ~AskedToEnd() {
    sigaction(SIGINT, &interrupt, nullptr);
    sigaction(SIGTERM, &terminate, nullptr);
  }

private:
  struct sigaction interrupt, terminate;
};

/// What cannot be meant together, or is missing.
Status checkOptions(const CommandOptions &options) {
  auto usage = [](std::string message, std::string help) {
    return Status(Diagnostic{Code::CLI_1, std::move(message), {}, {}, std::move(help)});
  };
  if (options.space.empty() && options.output.empty())
    return usage("tune is not told where the configurations go",
                 "give a file with -o, or --space to see what there is to choose from");
  if (!options.space.empty() && !options.output.empty())
    return usage("--space and -o are both given, but --space looks for nothing",
                 "leave one of them out");
  const ModelOptions &model = options.tune.model;
  TW_ASSIGN(bool artifact, isArtifact(model.model));
  if (artifact)
    return usage(fmt::format("{} is an artifact, whose kernels are compiled already", model.model),
                 "give the model that it was made from");
  if (options.space.empty() && !model.configurations.empty())
    return usage(fmt::format("the search begins with the compiler's own choice or a tuning spec, "
                             "but --config={} is given",
                             model.configurations),
                 "leave --config out, or give --tuning-spec");
  if (options.tune.modelOnly && options.tune.database.empty())
    return usage("--model-only tries what is known, but no --database is given",
                 "give the database of an earlier search");
  bool isHost = model.target.empty() || model.target == "cpu" || model.target.starts_with("cpu:");
  if (options.space.empty() && !isHost)
    return Diagnostic{Code::TUNE_2,
                      fmt::format("kernels are timed on this machine's CPU, but --target={} is "
                                  "given",
                                  model.target),
                      {},
                      {},
                      "leave --target out; configurations of other targets are set by hand "
                      "(docs/configurations.md)"};
  return {};
}

int printSpace(const CommandOptions &options, const TemporaryFolder &folder) {
  SpaceQuery query = options.query;
  query.format = options.json ? "json" : options.space;
  query.seed = options.tune.seed;
  if (options.tune.kernels.size() > 1)
    return fail({Code::CLI_1,
                 "--space shows all kernels or one, but several are given",
                 {},
                 {},
                 "give --kernel once, or not at all"});
  if (!options.tune.kernels.empty())
    query.kernel = options.tune.kernels.front();
  std::string text;
  if (int status = describeSpaces(options.tune.model, query, folder, text))
    return status;
  TW_TRY_CLI(writeResults(text));
  return 0;
}

/// What is written is a tuning spec, or a configuration file.
bool isSpec(const std::string &output) { return !output.ends_with(".json"); }

/// Reads the inputs as the model wants them, which compiling it tells.
int readModelInputs(const CommandOptions &options, std::vector<HostTensor> &inputs) {
  auto call = parseCall(options.call);
  TW_TRY_CLI(call);
  std::vector<std::string> read = filesRead(options.tune.model), written = {options.output};
  if (!options.page.empty())
    written.push_back(options.page);
  TW_TRY_CLI(checkFiles(std::span(&*call, 1), read, written));
  ProgramPtr program;
  if (int status = openProgram(options.tune.model, "", program))
    return status;
  auto made = readInputs(interfaceOf(program.get()), call->inputs);
  TW_TRY_CLI(made);
  inputs = *std::move(made);
  return 0;
}

int search(const CommandOptions &options, const TemporaryFolder &folder) {
  std::vector<HostTensor> inputs;
  if (int status = readModelInputs(options, inputs))
    return status;
  auto file = OutputFile::create(options.output); // now, not when all time is spent
  TW_TRY_CLI(file);
  std::optional<OutputFile> page;
  if (!options.page.empty()) {
    auto made = OutputFile::create(options.page);
    TW_TRY_CLI(made);
    page.emplace(*std::move(made));
  }
  AskedToEnd asked;
  Tuner tuner(options.tune, folder, [] { return isInterrupted == 0; });
  if (int status = tuner.prepare(std::move(inputs)))
    return status;
  if (int status = tuner.search())
    return status;
  if (int status = tuner.choose())
    return status;
  std::string found = isSpec(options.output) ? specText(tuner) : tuner.configuration();
  TW_TRY_CLI(file->write(asBytes(found)));
  TW_TRY_CLI(file->commit());
  if (page) {
    TW_TRY_CLI(page->write(asBytes(reportPage(tuner))));
    TW_TRY_CLI(page->commit());
  }
  TW_TRY_CLI(writeResults(options.json ? reportJson(tuner) : reportText(tuner)));
  return 0;
}

int tune(const CommandOptions &options) {
  TW_TRY_CLI(MappedFile::open(options.tune.model.model));
  TW_TRY_CLI(checkOptions(options));
  auto folder = TemporaryFolder::create();
  TW_TRY_CLI(folder);
  return options.space.empty() ? search(options, *folder) : printSpace(options, *folder);
}

} // namespace

void addTune(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<CommandOptions>();
  options->query.countMost = 2'000;
  CLI::App *command =
      app.add_subcommand("tune", "look for faster configurations of a model's kernels");
  TuneOptions &tuned = options->tune;
  tuned.model.addTo(*command);
  command->get_option("MODEL")->description("a .pt2 or .mlir model");
  command->get_option("--tuning-spec")
      ->description("where the search begins, instead of the compiler's choice: a spec that was "
                    "found for another machine or for similar models");
  options->call.addInputsTo(*command);
  tuned.tolerances.addTo(*command);
  command->add_option("-o,--output", options->output,
                      "file to write what is found to: a tuning spec, for --tuning-spec; or as "
                      "FILE.json, for --config");
  command
      ->add_option("--budget", tuned.budgetSeconds,
                   "how long to look, in seconds, or as 30m or 2h (default 10m)")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}},
                                CLI::AsNumberWithUnit::CASE_SENSITIVE))
      ->check(CLI::Range(1.0, 1e7));
  command
      ->add_option("--threads", tuned.threads,
                   "threads of a call; 0 (default): all cores that this process may use")
      ->check(CLI::Range(0, 1024));
  command->add_option(
      "--kernel", tuned.kernels,
      "only this kernel, as `compile --report` names it; may be given several times");
  command->add_option(
      "--dispatch", tuned.operators,
      "only kernels that compute this operator (linear_1); may be given several times");
  command->add_flag("--model-only", tuned.modelOnly,
                    "search nothing: only try in the whole model what --database knows to be best");
  command->add_option("--database", tuned.database,
                      "file that keeps all measurements, and from which the next search goes on");
  command->add_option("--html", options->page,
                      "file to write the report to as a page, with plots of the search");
  command->add_option("--seed", tuned.seed, "of what is drawn at random (default 0)");
  command
      ->add_flag("--space{text}", options->space,
                 "only print knobs, constraints and how many configurations are legal; "
                 "--space=smtlib: as SMT-LIB")
      ->check(CLI::IsMember({"text", "smtlib"}));
  command
      ->add_option("--count", options->query.countMost,
                   "with --space, count up to so many (default 2000) where knobs are connected")
      ->check(CLI::Range(int64_t(0), int64_t(100'000'000)));
  command
      ->add_option("--points", options->query.pointsMost,
                   "with --space --json, print so many configurations to try, the cheapest first "
                   "by the target's model")
      ->check(CLI::Range(int64_t(0), int64_t(1'000'000)));
  command
      ->add_option("--samples", options->query.samples,
                   "with --points, look at so many that are drawn from all legal ones")
      ->check(CLI::Range(int64_t(0), int64_t(1'000'000)));
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback(
      [options, &invocation] { invocation.action = [options] { return tune(*options); }; });
}

} // namespace tw::cli
