// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Support/Diagnostic.h"
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tw {

using Fields = std::vector<std::string>;

/// How long all that is done for one file of kernels may take: compiling its C++ and tracing it.
/// $TILEWRIGHT_KERNEL_SECONDS, or 60.
class KernelTime {
public:
  KernelTime();
  /// What is left, in whole seconds, at least 1.
  int secondsLeft() const;
  int seconds() const { return all; }

private:
  int all;
  std::chrono::steady_clock::time_point latest;
};

/// Runs code that is not ours in a process of its own and returns what it returns (no text may have
/// a zero in it); it may write to the standard streams. KERNEL_8 when that process crashes or
/// exits, which it may for want of memory (it has 4 GiB), or takes longer than there is `time`:
/// `what` says what it was doing ("tracing k.cpp"). SYSTEM_5 and SYSTEM_7 when there is no such
/// process to be had, or somebody ends it.
Result<Fields> runApart(const std::string &what, const KernelTime &time,
                        const std::function<Fields()> &action);

} // namespace tw
