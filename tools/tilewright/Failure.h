// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the tool ends badly: what is printed, and which exit status comes of it.
#pragma once
#include "Support/Diagnostic.h"
#include "tilewright/tilewright.h"
#include <string>

namespace tw::cli {

/// Prints the error on stderr; returns its exit status.
int fail(const Diagnostic &error);

/// Takes a status of the runtime (frees it) as an error of ours, with all its parts.
Status fromRuntime(tw_status *status);

/// Writes `text` to stdout, all of it. Errors: CLI_2.
Status writeResults(std::string_view text);

} // namespace tw::cli

/// Prints the error of `expr` (a Status or Result) and returns its exit status.
#define TW_TRY_CLI(expr)                                                                           \
  do {                                                                                             \
    if (const auto &twStatus_ = (expr); !twStatus_)                                                \
      return tw::cli::fail(twStatus_.error());                                                     \
  } while (0)
