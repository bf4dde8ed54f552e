// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright: compile models, run and measure what comes out. The command line is a contract: what
// --help of each command says, and the exit statuses of README.md.
#include "Failure.h"
#include "tools/tilewright/Commands/Commands.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <fmt/format.h>

using namespace tw;
using namespace tw::cli;

/// Does the word name an option of one call? Whatever else follows --next is for all calls.
static bool isCallOption(std::string_view word) {
  std::string_view name = word.substr(0, word.find('='));
  return name == "--input" || name == "--output" || name == "--expected-output" ||
         name == "--expected_output" || name == "--reset-state";
}

static bool takesValue(std::string_view callOption) {
  return callOption.find('=') == callOption.npos && callOption != "--reset-state";
}

/// Splits the words after the program's name at each --next; returns those of the first call and of
/// all calls.
static std::vector<std::string> splitCalls(int argc, char **argv, Invocation &invocation) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--next") {
      invocation.nextCalls.emplace_back();
      continue;
    }
    bool ofCall = !invocation.nextCalls.empty() && isCallOption(word);
    auto &place = ofCall ? invocation.nextCalls.back() : words;
    place.push_back(word);
    if (ofCall && takesValue(word) && i + 1 < argc)
      place.push_back(argv[++i]);
  }
  return words;
}

static bool isCommand(const CLI::App &app, const std::string &name) {
  return !app.get_subcommands([&](const CLI::App *command) { return command->get_name() == name; })
              .empty();
}

static bool takesNext(const CLI::App &app) {
  return app.got_subcommand("run") || app.got_subcommand("check");
}

static int usage(const CLI::App &app, const std::string &message) {
  auto chosen = app.get_subcommands();
  std::string command = chosen.empty() ? "" : " " + chosen[0]->get_name();
  return fail({Code::CLI_1, message, {}, {}, fmt::format("see tilewright{} --help", command)});
}

static void describe(CLI::App &app, Invocation &invocation) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "tilewright " TW_VERSION);
  app.footer("MODEL is a .pt2 or .mlir file. Exit status: 0 success, 1 invalid input, 2 invalid "
             "command line,\n3 unsupported, 4 internal error, 5 results differ.");
  addCompile(app, invocation);
  addRun(app, invocation);
  addBench(app, invocation);
  addProfile(app, invocation);
  addCheck(app, invocation);
  addInspect(app, invocation);
  addKernel(app, invocation);
  addTune(app, invocation);
  addLinkSpecs(app, invocation);
  addDoctor(app, invocation);
  addLimits(app, invocation);
}

/// Runs the command. What throws is memory running out, or a mistake of ours.
static int perform(const Invocation &invocation) {
  keepStdoutForResults();
  try {
    return invocation.action();
  } catch (const std::bad_alloc &) {
    return fail({Code::IO_3, "there is not enough memory"});
  } catch (const std::exception &error) {
    return fail({Code::CLI_9, fmt::format("unexpected failure: {}", error.what())});
  }
}

static int run(int argc, char **argv) {
  Invocation invocation;
  CLI::App app("Compiles deep-learning models to small native programs and runs them.",
               "tilewright");
  describe(app, invocation);
  std::vector<std::string> words = splitCalls(argc, argv, invocation);
  auto command = std::ranges::find_if(words, [](auto &word) { return !word.starts_with('-'); });
  if (command != words.end() && !isCommand(app, *command))
    return usage(app, fmt::format("there is no command \"{}\"", *command));
  std::reverse(words.begin(), words.end()); // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::Success &asked) { // --help, --version
    app.exit(asked);
    return 0;
  } catch (const CLI::ParseError &error) {
    return usage(app, error.what());
  }
  if (!invocation.nextCalls.empty() && !takesNext(app))
    return usage(app, "--next is for run and check only");
  return perform(invocation);
}

int main(int argc, char **argv) {
  std::signal(SIGXFSZ, SIG_IGN); // the write says so
  if (std::find(argv + 1, argv + argc, std::string_view("--json")) != argv + argc)
    expectJson();
  return finish(run(argc, argv));
}
