// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of the tool: each registers itself and, when chosen, leaves what to do.
#pragma once
#include "tools/tilewright/Program/Calls.h"
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tw::cli {

/// What the command line says beside the first call's options.
struct Invocation {
  std::vector<std::vector<std::string>> nextCalls; // the words after each --next
  std::function<int()> action;                     // of the chosen command; gives the exit status
};

void addCompile(CLI::App &app, Invocation &invocation);
void addRun(CLI::App &app, Invocation &invocation);
void addBench(CLI::App &app, Invocation &invocation);
void addProfile(CLI::App &app, Invocation &invocation);
void addCheck(CLI::App &app, Invocation &invocation);
void addInspect(CLI::App &app, Invocation &invocation);
void addKernel(CLI::App &app, Invocation &invocation);
void addTune(CLI::App &app, Invocation &invocation);
void addLinkSpecs(CLI::App &app, Invocation &invocation);
void addDoctor(CLI::App &app, Invocation &invocation);
void addLimits(CLI::App &app, Invocation &invocation);

/// The calls of a command that takes --next: `first` and those of the invocation, parsed. With
/// `outputs`, they may have --output. Errors: CLI_1, IO_8.
Result<std::vector<Call>> parseCalls(const CallArguments &first, const Invocation &invocation,
                                     bool outputs);

} // namespace tw::cli
