// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright tune MODEL --input=SPEC ... -o FILE: looks for faster configurations of the kernels.
// tilewright tune MODEL --space: what there is to choose from.
// tilewright tune MODEL --prepare=BUNDLE, --measure=BUNDLE, MODEL --finish=BUNDLE: the same in
// three parts, of which the second needs no compiler.
// tilewright tune --replay=DATABASE: how soon a search finds what an exhaustive one has found.
#include "../Failure.h"
#include "CommandOptions.h"
#include "IO/File.h"
#include "IO/OutputFile.h"
#include "Replay.h"
#include "Report.h"
#include "Searches.h"
#include "Support/Counted.h"
#include "tools/tilewright/Commands/Commands.h"
#include "tools/tilewright/Program/Program.h"
#include "tools/tilewright/Program/Values.h"
#include "tools/tilewright/Tune/Bundle/MeasureBundle.h"
#include "tools/tilewright/Tune/Bundle/PrepareBundle.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <limits>
#include <memory>

namespace tw::cli {

namespace {

/// Set by the first signal; the next one ends the process.
volatile std::sig_atomic_t isInterrupted = 0;

/// Whether no signal has come, nor waits (DelayedSignals).
bool goesOn() {
  sigset_t pending;
  sigpending(&pending);
  auto waits = [&](int signal) { return sigismember(&pending, signal) == 1; };
  return isInterrupted == 0 && !waits(SIGINT) && !waits(SIGTERM) && !waits(SIGHUP);
}

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

int printSpace(const CommandOptions &options, const TemporaryFolder &folder) {
  SpaceQuery query = options.query;
  query.format = options.json ? "json" : options.space;
  query.seed = options.tune.seed;
  query.knobs = options.tune.filter.knobs;
  query.call.workers = options.tune.threads;
  if (options.tune.exhaustiveWithin) {
    query.enumerateMost = SpaceQuery::mostEnumerated;
    query.costWithin = *options.tune.exhaustiveWithin;
  }
  if (!options.tune.filter.kernels.empty())
    query.kernel = options.tune.filter.kernels.front();
  std::string text;
  if (int status = describeSpaces(options.tune.model, query, folder, text))
    return status;
  TW_TRY_CLI(writeResults(text));
  return 0;
}

/// What is written: a tuning spec, or a configuration file.
std::string foundText(const CommandOptions &options, const std::vector<FoundKernel> &found,
                      const std::vector<Decision> &decisions) {
  return options.output.ends_with(".json") ? configurationText(found, decisions)
                                           : specText(options.tune.model, found, decisions);
}

/// What was written, and what to do with it.
std::string writtenText(const std::string &path, const std::vector<FoundKernel> &found,
                        const std::vector<Decision> &decisions) {
  bool isConfiguration = path.ends_with(".json");
  auto count = std::ranges::count_if(
      found, [](const FoundKernel &each) { return !each.isCompilersChoice(); });
  auto decided = int64_t(decisions.size());
  if (count == 0 && decided == 0)
    return fmt::format("wrote {}, which changes nothing: nothing faster was found\n", path);
  return fmt::format("wrote {}, with configurations of {}{}: compile with --{}={}\n", path,
                     counted(count, "kernel"),
                     decided ? " and " + counted(decided, "decision") : "",
                     isConfiguration ? "config" : "tuning-spec", path);
}

/// What a call needs: as it was given, and read as the model wants it, which compiling it tells.
struct ModelInputs {
  std::vector<InputSpec> specs;
  std::vector<HostTensor> tensors;
};

int readModelInputs(const CommandOptions &options, ModelInputs &inputs) {
  auto call = parseCall(options.call);
  TW_TRY_CLI(call);
  std::vector<std::string> read = filesRead(options.tune.model), written;
  for (const std::string &file : {options.output, options.page, options.tune.database})
    if (!file.empty())
      written.push_back(file);
  TW_TRY_CLI(checkFiles(std::span(&*call, 1), read, written));
  ProgramPtr program;
  // Its target may be another machine's, and a GPU is for the processes that measure.
  if (int status = openProgram(asTarget(options.tune.model, ""), "", program))
    return status;
  auto specs = specsInOrder(interfaceOf(program.get()), call->inputs);
  TW_TRY_CLI(specs);
  auto made = readInputs(interfaceOf(program.get()), *specs);
  TW_TRY_CLI(made);
  inputs = {*std::move(specs), *std::move(made)};
  return 0;
}

Status writeFound(const CommandOptions &options, const Tuner &tuner,
                  std::optional<OutputFile> &file, std::optional<OutputFile> &page) {
  if (file) {
    TW_TRY(file->write(asBytes(foundText(options, tuner.found(), tuner.foundDecisions()))));
    TW_TRY(file->commit());
    std::fputs(writtenText(options.output, tuner.found(), tuner.foundDecisions()).c_str(), stderr);
  }
  if (page) {
    TW_TRY(page->write(asBytes(reportPage(tuner))));
    TW_TRY(page->commit());
  }
  return {};
}

int search(const CommandOptions &options, const TemporaryFolder &folder) {
  ModelInputs inputs;
  if (int status = readModelInputs(options, inputs))
    return status;
  // Now, not when all time is spent.
  std::optional<OutputFile> file, page;
  for (auto [path, made] : {std::pair(&options.output, &file), {&options.page, &page}})
    if (!path->empty()) {
      auto created = OutputFile::create(*path);
      TW_TRY_CLI(created);
      made->emplace(*std::move(created));
    }
  AskedToEnd asked;
  Searches searches(options.tune, options.threads, folder, goesOn);
  if (int status = searches.run(inputs.tensors))
    return status;
  const Tuner &last = searches.last();
  Status written = writeFound(options, last, file, page);
  // What was found can be read where there is no room for it in a file.
  if (written || !options.json)
    TW_TRY_CLI(writeResults(options.json ? searches.json() : searches.text()));
  TW_TRY_CLI(written);
  return 0;
}

int prepare(const CommandOptions &options, const TemporaryFolder &folder) {
  ModelInputs inputs;
  if (int status = readModelInputs(options, inputs))
    return status;
  AskedToEnd asked;
  return prepareBundle(options.tune, options.prepare, options.programs,
                       {inputs.specs, inputs.tensors}, folder, goesOn);
}

int finish(const CommandOptions &options, const TemporaryFolder &folder) {
  FileUses files;
  for (const std::string &file : filesRead(options.tune.model))
    files.reads(file);
  TW_TRY_CLI(files.writes(options.output));
  std::vector<FoundKernel> found;
  std::vector<Decision> decisions;
  std::string report;
  if (int status = finishBundle(options.tune, options.finish, folder, found, decisions, report))
    return status;
  auto file = OutputFile::create(options.output);
  TW_TRY_CLI(file);
  TW_TRY_CLI(file->write(asBytes(foundText(options, found, decisions))));
  TW_TRY_CLI(file->commit());
  std::fputs(writtenText(options.output, found, decisions).c_str(), stderr);
  TW_TRY_CLI(writeResults(report));
  return 0;
}

int tune(const CommandOptions &options) {
  TW_TRY_CLI(checkOptions(options));
  if (!options.measure.empty()) {
    AskedToEnd asked;
    return measureBundle(options.measure, options.tune.tolerances, options.tune.timeout,
                         options.json, goesOn);
  }
  if (!options.replay.empty())
    return replayDatabase(options.replay, options.tune.seed, options.json);
  auto folder = TemporaryFolder::create();
  TW_TRY_CLI(folder);
  if (!options.prepare.empty())
    return prepare(options, *folder);
  if (!options.finish.empty())
    return finish(options, *folder);
  return options.space.empty() ? search(options, *folder) : printSpace(options, *folder);
}

} // namespace

static void addBudgetOptions(CLI::App &command, TuneOptions &tuned) {
  command
      .add_option("--budget", tuned.budgetSeconds,
                  "how long to look, in seconds, or as 30m or 2h (default 10m; with --exhaustive "
                  "as long as it takes); what is compiled and measured before and after comes on "
                  "top")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}},
                                CLI::AsNumberWithUnit::CASE_SENSITIVE))
      ->check(CLI::Validator(
          [](std::string &seconds) {
            bool isBudget = CLI::Range(1.0, 1e7)(seconds).empty();
            return isBudget ? "" : seconds + " seconds are out of range: give 1s to 2777h";
          },
          ""));
  command
      .add_option("--candidates", tuned.budgetCandidates,
                  "how many programs to try, each with a candidate for every kernel; without "
                  "--budget as long as it takes")
      ->check(CLI::Range(int64_t(1), int64_t(10'000'000)));
  command
      .add_option("--timeout", tuned.timeout,
                  "after how many seconds a candidate is given up, when it is compiled and when it "
                  "is measured (default 30, and twenty times what the start takes)")
      ->check(CLI::Range(1, 1'000'000));
}

static void addSearchOptions(CLI::App &command, CommandOptions &options) {
  TuneOptions &tuned = options.tune;
  command
      .add_option("--threads", options.threads,
                  "threads of a call; 0 (default): all cores that this process may use. Several, "
                  "with commas between them: kernels get variants for each but the least, and the "
                  "report says which number is best")
      ->delimiter(',')
      ->check(CLI::Range(0, 1024));
  command.add_option(
      "--kernel", tuned.filter.kernels,
      "only this kernel, as `compile --report` names it; may be given several times");
  command.add_option(
      "--dispatch", tuned.filter.operators,
      "only kernels that compute this operator (linear_1); may be given several times");
  command
      .add_option("--objective", options.objective,
                  "what is to become less: time (default), or memory: of weights, temporaries at "
                  "their peak, outputs and state")
      ->check(CLI::IsMember({"time", "memory"}));
  command
      .add_option("--knobs", tuned.filter.knobs,
                  "search only these, with commas between them; others keep their values")
      ->delimiter(',');
  command
      .add_flag("--exhaustive{any}", options.exhaustive,
                "measure all legal configurations, and tell how far what the search began with is "
                "from the best; --exhaustive=FACTOR: only those that cost at most FACTOR times the "
                "least by the target's model")
      ->check(CLI::Validator(
          [](std::string &text) {
            bool isFactor = text == "any" || CLI::Range(1.0, 1e9)(text).empty();
            return isFactor ? "" : text + " is no factor: give a number, 1 or more";
          },
          ""));
  command.add_flag("!--no-decisions", options.searchesDecisions,
                   "leave what the compiler decides about operators as it is; also with --kernel, "
                   "--dispatch, --knobs, --exhaustive and --model-only");
  command.add_flag("--model-only", tuned.modelOnly,
                   "search nothing: only try in the whole model what --database knows to be best");
  command.add_option("--database", tuned.database,
                     "file that keeps all measurements, and from which the next search goes on");
  command.add_option("--html", options.page,
                     "file to write the report to as a page, with plots of the search");
  command.add_option("--reference", tuned.reference,
                     "the target whose results are right: reference (default), or cpu, for "
                     "models that take plain loops too long");
  command.add_option("--replay", options.replay,
                     "without MODEL: how many candidates searches take for what --exhaustive has "
                     "found, by the measurements that this database has");
  command.add_option("--seed", tuned.seed, "of what is drawn at random (default 0)")
      ->check(CLI::Range(int64_t(0), std::numeric_limits<int64_t>::max()));
}

static void addBundleOptions(CLI::App &command, CommandOptions &options) {
  command.add_option("--prepare", options.prepare,
                     "only compile candidates into this folder, a bundle, for another machine");
  command
      .add_option("--programs", options.programs,
                  "with --prepare, how many (default 40); each has a candidate for every kernel")
      ->check(CLI::Range(int64_t(1), int64_t(100'000)));
  command.add_option("--measure", options.measure,
                     "without MODEL: measure what a bundle has; no compiler is needed");
  command.add_option("--finish", options.finish,
                     "write what the measurements of a bundle say with -o");
}

static void addSpaceOptions(CLI::App &command, CommandOptions &options) {
  command
      .add_flag("--space{text}", options.space,
                "only print knobs, constraints and how many configurations are legal; "
                "--space=smtlib: as SMT-LIB")
      ->check(CLI::IsMember({"text", "smtlib"}));
  command
      .add_option("--count", options.query.countMost,
                  "with --space, count up to so many (default 2000) where knobs are connected")
      ->check(CLI::Range(int64_t(0), int64_t(100'000'000)));
  command
      .add_option("--points", options.query.pointsMost,
                  "with --space --json, print so many configurations to try, the cheapest first "
                  "by the target's model; with --exhaustive, all")
      ->check(CLI::Range(int64_t(0), int64_t(1'000'000)));
  command
      .add_option("--samples", options.query.samples,
                  "with --points, look at so many that are drawn from all legal ones")
      ->check(CLI::Range(int64_t(0), int64_t(1'000'000)));
}

void addTune(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<CommandOptions>();
  options->query.countMost = 2'000;
  CLI::App *command =
      app.add_subcommand("tune", "look for faster configurations of a model's kernels");
  TuneOptions &tuned = options->tune;
  tuned.model.addTo(*command, "--tuning-spec,--starter-spec");
  command->get_option("MODEL")->required(false)->description("a .pt2 or .mlir model");
  command->get_option("--tuning-spec")
      ->description("where the search begins, instead of the compiler's choice: a spec that was "
                    "found for another machine or for similar models");
  command->get_option("--config")
      ->description("with --space: configurations to look at, instead of the compiler's choice; "
                    "one that is illegal is refused with the constraint that it violates");
  options->call.addInputsTo(*command);
  tuned.tolerances.addTo(*command);
  command->add_option("-o,--output", options->output,
                      "file to write what is found to: a tuning spec, for --tuning-spec; or as "
                      "FILE.json, for --config");
  addBudgetOptions(*command, tuned);
  addSearchOptions(*command, *options);
  addBundleOptions(*command, *options);
  addSpaceOptions(*command, *options);
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options, command, &invocation] {
    std::vector<int> &threads = options->threads;
    std::ranges::sort(threads);
    threads.erase(std::ranges::unique(threads).begin(), threads.end());
    options->tune.threads = threads.front();
    const KernelFilter &filter = options->tune.filter;
    options->tune.searchesDecisions = options->searchesDecisions && filter.kernels.empty() &&
                                      filter.operators.empty() && filter.knobs.empty() &&
                                      options->exhaustive.empty() && !options->tune.modelOnly;
    if (options->objective == "memory")
      options->tune.objective = Objective::Memory;
    constexpr double forever = std::numeric_limits<double>::infinity();
    if (!options->exhaustive.empty()) {
      bool isAny = options->exhaustive == "any";
      options->tune.exhaustiveWithin = isAny ? forever : std::stod(options->exhaustive);
    }
    for (const CLI::Option *option : command->get_options())
      if (option->count() > 0)
        options->given.push_back(option->get_name());
    bool isUnlimited = !options->exhaustive.empty() || options->tune.budgetCandidates;
    if (isUnlimited && command->count("--budget") == 0)
      options->tune.budgetSeconds = forever;
    invocation.action = [options] { return tune(*options); };
  });
}

} // namespace tw::cli
