// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is watched of an instance's dispatches: the caller's callback, the built-in recorder, and
// when each one ran.
#pragma once
#include "runtime/Nanoseconds.h"
#include "tilewright/tilewright.h"
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
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
  /// A dispatch that has run, in ns of a monotonic clock.
  struct Span {
    int32_t dispatch;
    int64_t begin, end;
  };
  /// Of so many dispatches spans are kept, the latest ones: about as many as a page can show. A
  /// power of two, and few enough for a near cache.
  static constexpr size_t keptSpans = 16'384;
  /// Begins to keep spans, or stops; forgets those of before.
  void keepSpans(bool on) {
    spans.assign(on ? keptSpans : 0, {});
    noted = 0;
  }
  /// In order; they are forgotten.
  std::vector<Span> takeSpans() {
    size_t from = noted > spans.size() ? noted % keptSpans : 0;
    std::vector<Span> all(spans.begin(), spans.begin() + int64_t(std::min(noted, spans.size())));
    std::rotate(all.begin(), all.begin() + int64_t(from), all.end());
    noted = 0;
    return all;
  }

  bool active() const { return callback || recording || observer || !spans.empty(); }

  void setObserver(Observer newObserver) { observer = std::move(newObserver); }
  const Observer &observed() const { return observer; }

  /// Before the first dispatch of a run.
  void beginRun() { isBetween = false; }

  /// At the beginning and at the end of a dispatch. Where nobody is called in between, a dispatch
  /// begins when the one before ends: reading the clock takes longer than what else there is.
  void note(int32_t dispatch, bool begins) {
    bool isKnown = begins && isBetween && !callback && !observer;
    isBetween = !begins;
    if (isKnown)
      return;
    int64_t now = nanoseconds(), since = std::exchange(latest, now);
    if (!begins)
      tell(dispatch, since, now);
  }
  /// A dispatch that has run, in ns of a monotonic clock.
  void tell(int32_t dispatch, int64_t begins, int64_t ends) {
    if (recording)
      add(dispatch, ends - begins);
    if (!spans.empty())
      spans[noted++ % keptSpans] = {dispatch, begins, ends};
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
  bool isBetween = false; // two dispatches of a run
  int64_t latest = 0;     // reading of the clock
  std::vector<tw_dispatch_times> recorded;
  std::vector<Span> spans; // the one of dispatch n at n % keptSpans
  size_t noted = 0;
};

} // namespace tw::rt
