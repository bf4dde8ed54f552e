// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work in a process of its own: what it takes and breaks ends with it.
#pragma once
#include <csignal>
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
  bool isInterrupted = false; ///< it was killed, for this process has got a signal (DelayedSignals)
  int signal = 0;             ///< that ended it; 0: it exited
  int exitStatus = 0;
  uint64_t peakBytes = 0; ///< of memory that it had at once (not of addresses)

  /// "signal 11 (Segmentation fault)" or "exit status 7".
  std::string text() const;
};

/// Runs `action` in a child process, which has a copy of all memory but only this thread, waits for
/// its end and hands over what it returned, whatever bytes these are. It may write to the standard
/// streams. Empty when there is no such process to be had; errno says why.
///
/// The child is the first of a new process group, and nothing of that group outlives the call, nor
/// this process, whoever is ended by whatever signal. A signal that ends this process (INT, TERM,
/// HUP) ends the child at once and is delivered when the call returns.
std::optional<ChildEnd> runInChild(const ChildLimits &limits,
                                   const std::function<std::string()> &action);

/// While one exists, INT, TERM and HUP wait, in this thread: for work that must not be left half
/// done, such as removing a folder.
class DelayedSignals {
public:
  DelayedSignals();
  DelayedSignals(const DelayedSignals &) = delete;
  ~DelayedSignals();

private:
  sigset_t before;
};

} // namespace tw
