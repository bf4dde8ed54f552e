// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words after each --next, as calls.
#include "Commands.h"
#include <CLI/CLI.hpp>

namespace tw::cli {

static Result<CallArguments> parseNext(std::vector<std::string> words, bool outputs) {
  CallArguments arguments;
  CLI::App app;
  app.set_help_flag();
  arguments.addInputsTo(app);
  arguments.addExpectedTo(app);
  if (outputs) {
    arguments.addOutputsTo(app);
    arguments.addResetTo(app);
  }
  std::reverse(words.begin(), words.end()); // as CLI11 wants them
  try {
    app.parse(words);
  } catch (const CLI::ParseError &error) {
    return Diagnostic{Code::CLI_1,
                      std::string("after --next: ") + error.what(),
                      {},
                      {},
                      "--next starts another call, with its own inputs and outputs"};
  }
  return arguments;
}

Result<std::vector<Call>> parseCalls(const CallArguments &first, const Invocation &invocation,
                                     bool outputs) {
  std::vector<Call> calls;
  TW_ASSIGN(Call call, parseCall(first));
  calls.push_back(std::move(call));
  for (const auto &words : invocation.nextCalls) {
    TW_ASSIGN(CallArguments arguments, parseNext(words, outputs));
    TW_ASSIGN(Call next, parseCall(arguments));
    calls.push_back(std::move(next));
  }
  return calls;
}

} // namespace tw::cli
