// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happened in calls of an instance, in ns of a monotonic clock.
#pragma once
#include "Support/Diagnostic.h"
#include "runtime/Observe.h"
#include <vector>

namespace tw::cli {

class Recording {
public:
  using Span = rt::Trace::Span;

  explicit Recording(size_t dispatches) : times(dispatches) {}

  /// Records the following runs of the instance, on the CPU with what its threads do. Errors: the
  /// instance is running.
  Status start(tw_instance *instance, bool hasThreads);
  /// Records no more.
  Status stop();

  std::vector<tw_dispatch_times> times; // of each dispatch over all calls
  /// The latest dispatches, in order, and what threads did meanwhile.
  std::vector<Span> spans;
  std::vector<std::vector<rt::ThreadPool::Piece>> threads;

private:
  /// What the thread that calls does outside of shared loops it does alone.
  void addCallersPieces();

  tw_instance *instance = nullptr;
  bool hasThreads = false;
};

} // namespace tw::cli
