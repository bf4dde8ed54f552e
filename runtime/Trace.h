// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is watched of an instance's dispatches: the caller's callback and the built-in recorder.
#pragma once
#include "runtime/Nanoseconds.h"
#include "tilewright/tilewright.h"
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace tw::rt {

/// Called before and after each dispatch with what its kernel is called with (Program ABI), which
/// it may read and write.
using Observer = std::function<void(int32_t dispatch, bool begins, void *const *buffers,
                                    const int64_t *scalars)>;

class Trace {
public:
  explicit Trace(size_t dispatches) : recorded(dispatches) {}

  void setCallback(tw_trace_callback newCallback, void *newUser) {
    callback = newCallback;
    user = newUser;
  }
  /// Starts from zero, or stops and keeps.
  void record(bool on) {
    recording = on;
    if (on)
      std::fill(recorded.begin(), recorded.end(), tw_dispatch_times{});
  }
  bool active() const { return callback || recording || observer; }

  void setObserver(Observer newObserver) { observer = std::move(newObserver); }
  const Observer &observed() const { return observer; }

  /// At the beginning and at the end of a dispatch.
  void note(int32_t dispatch, bool begins) {
    int64_t now = nanoseconds();
    if (begins) {
      begin = now;
      return;
    }
    tell(dispatch, begin, now);
  }
  /// A dispatch that has run, in ns of a monotonic clock.
  void tell(int32_t dispatch, int64_t begins, int64_t ends) {
    if (recording)
      add(dispatch, ends - begins);
    if (callback)
      callback(user, dispatch, begins, ends);
  }

  tw_dispatch_times times(int32_t dispatch) const {
    bool known = dispatch >= 0 && static_cast<size_t>(dispatch) < recorded.size();
    return known ? recorded[dispatch] : tw_dispatch_times{};
  }

private:
  void add(int32_t dispatch, int64_t ns) {
    if (dispatch < 0 || static_cast<size_t>(dispatch) >= recorded.size())
      return;
    tw_dispatch_times &t = recorded[dispatch];
    t.min_ns = t.calls ? std::min(t.min_ns, ns) : ns;
    t.max_ns = std::max(t.max_ns, ns);
    t.total_ns += ns;
    ++t.calls;
  }

  Observer observer;
  tw_trace_callback callback = nullptr;
  void *user = nullptr;
  bool recording = false;
  int64_t begin = 0;
  std::vector<tw_dispatch_times> recorded;
};

} // namespace tw::rt
