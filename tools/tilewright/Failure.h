// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the tool ends badly: what is printed, and which exit status comes of it.
#pragma once
#include "Support/Diagnostic.h"
#include "tilewright/tilewright.h"
#include <string>

namespace tw::cli {

/// Of a command that prints one JSON object: finish() prints it if it fails. A child process whose
/// failure is no failure of the command takes it back.
void expectJson(bool isExpected = true);
/// From now on only writeResults() writes to stdout. What anything else prints there, such as a
/// kernel's own C++, goes to stderr.
void keepStdoutForResults();

/// Prints the error on stderr and keeps it for the JSON object; returns its exit status.
int fail(const Diagnostic &error);
/// The same of an error that the compiler has rendered.
void printError(const std::string &text);

/// Ends a command, or the part of one that runs in a child process: after a failure that has
/// printed no results prints {"status", "errors"}, where JSON is expected. Returns `status`.
int finish(int status);
/// Whether the JSON object has been printed; a child process says so to its parent.
bool hasPrinted();
void setPrinted();

/// Takes a status of the runtime (frees it) as an error of ours, with all its parts.
Status fromRuntime(tw_status *status);

/// Writes `text`, a command's results, to stdout, all of it. Errors: CLI_2.
Status writeResults(std::string_view text);

} // namespace tw::cli

/// Prints the error of `expr` (a Status or Result) and returns its exit status.
#define TW_TRY_CLI(expr)                                                                           \
  do {                                                                                             \
    if (const auto &twStatus_ = (expr); !twStatus_)                                                \
      return tw::cli::fail(twStatus_.error());                                                     \
  } while (0)
