// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler library says, printed or kept.
#pragma once
#include "tilewright/Compiler.h"
#include "tools/tilewright/Progress.h"
#include <string>

namespace tw::cli {

/// Diagnostics go to stderr at once, progress to its line; reports are kept for the command. One
/// object per call of the library: pass `sink()` and the object itself as the user pointer.
class CompilerSink {
public:
  tilewright_sink sink();

  std::string report, timeReport;
  Progress progress;
};

} // namespace tw::cli
