// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happened in calls of an instance, in ns of a monotonic clock.
#pragma once
#include "Support/Diagnostic.h"
#include "runtime/Observe.h"
#include <vector>

namespace tw::cli {

/// Times of one dispatch over all calls.
struct DispatchTimes {
  int64_t calls = 0, total = 0, min = 0, max = 0;
};

class Recording {
public:
  struct Span {
    int32_t dispatch;
    int64_t begin, end;
  };

  explicit Recording(size_t dispatches) : times(dispatches) {}
  Recording(const Recording &) = delete;

  /// Records the following runs of the instance, which must not outlive this; on the CPU with what
  /// its threads do. Errors: the instance is running.
  Status start(tw_instance *instance, bool hasThreads);
  /// Records no more.
  Status stop();

  std::vector<DispatchTimes> times;
  /// The latest dispatches, in order, and what threads did meanwhile.
  std::vector<Span> spans;
  std::vector<std::vector<rt::ThreadPool::Piece>> threads;

private:
  static void note(void *self, int32_t dispatch, int64_t begin, int64_t end);
  void forgetOldSpans();

  tw_instance *instance = nullptr;
  bool hasThreads = false;
};

} // namespace tw::cli
