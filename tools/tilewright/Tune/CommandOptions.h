// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `tilewright tune` is told on its command line.
#pragma once
#include "Tuner.h"
#include "tools/tilewright/Program/Calls.h"

namespace tw::cli {

struct CommandOptions {
  TuneOptions tune;
  CallArguments call;
  SpaceQuery query;
  std::string output, page, space;      // space: empty, "text" or "smtlib"
  std::string exhaustive;               // empty, "any", or the factor of the least cost
  std::string objective = "time";       // or "memory"
  std::string prepare, measure, finish; // folders of bundles
  std::string replay;                   // a database
  std::vector<int> threads = {0};       // ascending
  std::vector<std::string> given;       // the options on the command line
  bool searchesDecisions = true;
  int64_t programs = 40;
  bool json = false;
};

/// What cannot be meant together, has no effect, or is missing.
Status checkOptions(const CommandOptions &options);

} // namespace tw::cli
