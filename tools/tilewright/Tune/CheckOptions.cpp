// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which options of `tilewright tune` go together: what would have no effect is refused, not taken.
#include "../Failure.h"
#include "CommandOptions.h"
#include "IO/File.h"
#include "tools/tilewright/Program/Program.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tw::cli {

namespace {

/// What a command line asks for, as bits.
enum Mode : unsigned { Search = 1, Space = 2, Prepare = 4, Measure = 8, Finish = 16, Replay = 32 };
/// Those that compile the model.
constexpr unsigned WithModel = Search | Space | Prepare | Finish;

struct ModeName {
  Mode mode;
  const char *text;
  const std::string CommandOptions::*value; // which is given where the mode is
};
constexpr std::array modes = {ModeName{Search, "a search", nullptr},
                              ModeName{Space, "--space", &CommandOptions::space},
                              ModeName{Prepare, "--prepare", &CommandOptions::prepare},
                              ModeName{Measure, "--measure", &CommandOptions::measure},
                              ModeName{Finish, "--finish", &CommandOptions::finish},
                              ModeName{Replay, "--replay", &CommandOptions::replay}};

/// In which modes options have an effect; all others have one in each, or errors of their own.
constexpr std::pair<const char *, unsigned> uses[] = {
    {"--input", Search | Prepare},
    {"--rtol", Search | Measure},
    {"--atol", Search | Measure},
    {"--target", WithModel},
    {"--tuning-spec", WithModel},
    {"--precision", WithModel},
    {"--entry", WithModel},
    {"--kernels", WithModel},
    {"--config", WithModel},
    {"--budget", Search},
    {"--candidates", Search},
    {"--timeout", Search | Prepare | Measure},
    {"--threads", Search | Space | Prepare},
    {"--kernel", WithModel},
    {"--dispatch", Search | Prepare | Finish},
    {"--objective", Search},
    {"--knobs", WithModel},
    {"--exhaustive", Search | Space},
    {"--no-decisions", Search | Prepare | Finish},
    {"--model-only", Search},
    {"--database", Search},
    {"--html", Search},
    {"--reference", Search | Prepare},
    {"--seed", Search | Space | Prepare | Finish | Replay},
    {"--programs", Prepare},
    {"--count", Space},
    {"--points", Space},
    {"--samples", Space},
    {"--json", Search | Space | Measure | Replay},
};

/// Of --space: what has no effect without another option.
constexpr std::pair<const char *, const char *> needsOfSpace[] = {
    {"--points", "--json"},
    {"--exhaustive", "--json"},
    {"--samples", "--points"},
    {"--seed", "--samples"},
};

Diagnostic usage(std::string message, std::string help) {
  return {Code::CLI_1, std::move(message), {}, {}, std::move(help)};
}

/// "a search, --space and --prepare"
std::string textOf(unsigned used) {
  std::vector<std::string> names;
  for (const ModeName &mode : modes)
    if (used & mode.mode)
      names.emplace_back(mode.text);
  std::string last = std::move(names.back());
  names.pop_back();
  return names.empty() ? last : fmt::format("{} and {}", fmt::join(names, ", "), last);
}

bool isGiven(const CommandOptions &options, std::string_view option) {
  return std::ranges::find(options.given, option) != options.given.end();
}

Status checkUses(const CommandOptions &options, const ModeName &mode) {
  for (const auto &[option, used] : uses) {
    if ((used & mode.mode) || !isGiven(options, option))
      continue;
    if (mode.mode == Search)
      return usage(fmt::format("{} is for {}, and this is a search", option, textOf(used)),
                   "leave it out");
    bool isBudget = mode.mode == Prepare && (option == std::string_view("--budget") ||
                                             option == std::string_view("--candidates"));
    return usage(fmt::format("{} and {} are both given, but {} is for {}", mode.text, option,
                             option, textOf(used)),
                 isBudget ? "leave one of them out; --programs says how many there are"
                          : "leave one of them out");
  }
  return {};
}

Status checkSpace(const CommandOptions &options) {
  bool isSmtLib = options.space == "smtlib";
  for (const char *option : {"--count", "--json"})
    if (isSmtLib && isGiven(options, option))
      return usage(fmt::format("--space=smtlib and {} are both given, but a solver reads knobs and "
                               "constraints alone",
                               option),
                   "leave one of them out");
  for (const auto &[option, needed] : needsOfSpace)
    if (isGiven(options, option) && !isGiven(options, needed))
      return usage(fmt::format("--space prints what {} asks for only with {}", option, needed),
                   fmt::format("leave {} out, or give {}", option, needed));
  if (options.tune.filter.kernels.size() > 1)
    return usage("--space shows all kernels or one, but several are given",
                 "give --kernel once, or not at all");
  return {};
}

Status checkSearch(const CommandOptions &options) {
  if (!options.exhaustive.empty() && options.tune.modelOnly)
    return usage("--exhaustive measures everything and --model-only nothing, but both are given",
                 "leave one of them out");
  // What all configurations take is worth knowing by itself.
  if (options.output.empty() && options.exhaustive.empty())
    return usage("tune is not told where the configurations go",
                 "give a file with -o, or --space to see what there is to choose from");
  if (!options.tune.modelOnly)
    return {};
  if (options.tune.database.empty())
    return usage("--model-only tries what is known, but no --database is given",
                 "give the database of an earlier search");
  TW_TRY(MappedFile::open(options.tune.database)); // a search would make it
  return {};
}

/// Whether there is a model, or one is needed.
Status checkModel(const CommandOptions &options, const ModeName &mode) {
  bool isThere = !options.tune.model.model.empty();
  if ((mode.mode & WithModel) && !isThere)
    return usage("MODEL is required", "see tilewright tune --help");
  if (!(mode.mode & WithModel) && isThere)
    return usage(fmt::format("{} and a model are both given, but a {} has all that is {}",
                             mode.text, mode.mode == Measure ? "bundle" : "database",
                             mode.mode == Measure ? "measured" : "replayed"),
                 "leave the model out");
  return {};
}

/// What a command line asks for: one thing, with the options that it needs and no others.
Result<ModeName> modeOf(const CommandOptions &options) {
  std::vector<ModeName> asked;
  for (const ModeName &mode : modes)
    if (mode.value && !(options.*mode.value).empty())
      asked.push_back(mode);
  if (asked.size() > 1)
    return usage(fmt::format("{} and {} are both given", asked[0].text, asked[1].text),
                 "leave one of them out");
  ModeName mode = asked.empty() ? modes.front() : asked.front();
  TW_TRY(checkUses(options, mode));
  if (mode.mode == Search)
    TW_TRY(checkSearch(options));
  if (mode.mode == Space)
    TW_TRY(checkSpace(options));
  if (mode.mode == Finish && options.output.empty())
    return usage("tune is not told where the configurations go", "give a file with -o");
  if (mode.mode != Search && mode.mode != Finish && !options.output.empty())
    return usage(
        fmt::format("{} and -o are both given, but {} finds nothing yet", mode.text, mode.text),
        "leave one of them out");
  TW_TRY(checkModel(options, mode));
  return mode;
}

/// Of several numbers of threads, there is a search for each.
Status checkThreads(const CommandOptions &options) {
  if (options.threads.size() < 2)
    return {};
  if (options.threads.front() == 0)
    return usage("--threads has 0, which is all cores, beside other numbers",
                 "give the number of cores instead");
  for (auto [name, isThere] : {std::pair("--space", !options.space.empty()),
                               {"--prepare", !options.prepare.empty()},
                               {"--html", !options.page.empty()},
                               {"--exhaustive", !options.exhaustive.empty()},
                               {"--objective=memory", options.objective == "memory"}})
    if (isThere)
      return usage(fmt::format("{} is for one number of threads, but --threads={} is given", name,
                               fmt::join(options.threads, ",")),
                   "give one number");
  return {};
}

} // namespace

Status checkOptions(const CommandOptions &options) {
  TW_ASSIGN(ModeName mode, modeOf(options));
  TW_TRY(checkThreads(options));
  const ModelOptions &model = options.tune.model;
  if (!(mode.mode & WithModel))
    return {};
  TW_TRY(MappedFile::open(model.model));
  TW_ASSIGN(bool artifact, isArtifact(model.model));
  if (artifact)
    return usage(fmt::format("{} is an artifact, whose kernels are compiled already", model.model),
                 "give the model that it was made from");
  if (mode.mode != Space && !model.configurations.empty())
    return usage(fmt::format("the search begins with the compiler's own choice or a tuning spec, "
                             "but --config={} is given",
                             model.configurations),
                 "leave --config out, or give --tuning-spec");
  if (mode.mode != Space && model.target == "reference")
    return Diagnostic{Code::TUNE_2,
                      "the target reference runs plain loops, which have no configurations",
                      {},
                      {},
                      "leave --target out, or give a CPU or a GPU"};
  if (isForGpu(options.tune.reference))
    return usage(fmt::format("what is right is computed on a CPU, but --reference={} is given",
                             options.tune.reference),
                 "leave --reference out, or give cpu");
  return {};
}

} // namespace tw::cli
