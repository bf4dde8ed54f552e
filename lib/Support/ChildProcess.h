// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work in a process of its own: what it takes and breaks ends with it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tw {

/// What a child process may take; without a value as much as there is.
struct ChildLimits {
  std::optional<int> seconds = {};
  std::optional<uint64_t> bytes = {}; ///< of memory, more than this process has now
};

/// How a child process ended.
struct ChildEnd {
  std::optional<std::string> answer; ///< what the action returned; empty: it ended before that
  bool isInTime = true;              ///< false: it was killed, for its seconds were over
  int signal = 0;                    ///< that ended it; 0: it exited
  int exitStatus = 0;

  /// "signal 11 (Segmentation fault)" or "exit status 7".
  std::string text() const;
};

/// Runs `action` in a child process, which has a copy of all memory but only this thread, waits for
/// its end and hands over what it returned, whatever bytes these are. It may write to the standard
/// streams. Empty when there is no such process to be had; errno says why.
std::optional<ChildEnd> runInChild(const ChildLimits &limits,
                                   const std::function<std::string()> &action);

} // namespace tw
