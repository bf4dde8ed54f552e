// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happened in calls of an instance, in ns of a monotonic clock.
#pragma once
#include "Support/Diagnostic.h"
#include "runtime/Observe.h"
#include <optional>
#include <vector>

namespace tw::cli {

class Recording {
public:
  using Span = rt::Trace::Span;

  explicit Recording(size_t dispatches) : times(dispatches) {}

  /// Records the following runs of the instance, on the CPU with what its threads do. Errors: the
  /// instance is running.
  Status start(tw_instance *instance, bool hasThreads);
  /// After each call: takes down what its dispatches took.
  void endCall();
  /// Records no more.
  Status stop();

  /// What a dispatch took in a call, all times that it ran together: the median of the latest
  /// calls, in us. Nothing where no call has ended.
  std::optional<double> medianUs(size_t dispatch) const;

  std::vector<tw_dispatch_times> times; // of each dispatch over all calls
  /// The latest dispatches, in order, and what threads did meanwhile.
  std::vector<Span> spans;
  std::vector<std::vector<rt::ThreadPool::Piece>> threads;

private:
  /// Of all dispatches together times of so many calls are kept, the latest ones: 16 MB.
  static constexpr size_t keptTimes = size_t(1) << 22;

  /// What the thread that calls does outside of shared loops it does alone.
  void addCallersPieces();

  tw_instance *instance = nullptr;
  std::vector<int64_t> totalsNs;                // of each dispatch when the last call ended
  std::vector<std::vector<float>> timesOfCalls; // of each dispatch, in ns
  size_t ended = 0;                             // calls
  bool hasThreads = false;
};

} // namespace tw::cli
