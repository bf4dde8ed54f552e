// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line that says what a long command is doing: on a terminal, after half a second.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

namespace tw::cli {

/// Writes to stderr if that is a terminal, else nothing. Erases its line at the end.
class Progress {
public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;

  /// Now at `stage`; `fraction` of the whole is done, negative when unknown. Cheap.
  void at(std::string_view stage, double fraction);
  /// Makes room for other output on stderr.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  bool terminal;
  bool shown = false;
  Clock::time_point next; // not before
};

/// ", 3:20 left", where the share of the work that is done took so long; empty at the beginning.
std::string timeLeftText(double secondsSpent, double fraction);

/// "[ 42%] codegen k12", cut to `width` columns.
std::string progressText(std::string_view stage, double fraction, size_t width);

} // namespace tw::cli
