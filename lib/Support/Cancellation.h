// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wish that a long piece of work ends early. Whoever works asks between its parts, on any
// thread and without a lock of its own, and ends as after an error. A fork that waits for threads
// that compile goes on meanwhile.
#pragma once
#include "Support/Diagnostic.h"
#include "Support/Forks.h"
#include <atomic>

namespace tw {

class Cancellation {
public:
  void request() { requested.store(true, std::memory_order_relaxed); }
  bool isRequested() const {
    restForForks();
    return requested.load(std::memory_order_relaxed);
  }

  /// What the work ends with.
  static Diagnostic error() {
    return {Code::SYSTEM_7, "the call was cancelled by its caller", {}, {}, "call again"};
  }

private:
  std::atomic<bool> requested = false;
};

/// Of work that may have nobody who cancels it.
inline bool isCancelled(const Cancellation *cancellation) {
  return cancellation && cancellation->isRequested();
}

} // namespace tw
