// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Recording.h"
#include "../Failure.h"
#include <algorithm>

namespace tw::cli {

static constexpr size_t mostSpans = 20'000; // as many as a page can show

Status Recording::start(tw_instance *of, bool withThreads) {
  instance = of;
  hasThreads = withThreads;
  spans.reserve(2 * mostSpans);
  if (hasThreads)
    TW_TRY(rt::watchThreads(instance, true));
  return fromRuntime(tw_instance_set_trace(instance, note, this));
}

Status Recording::stop() {
  TW_TRY(fromRuntime(tw_instance_set_trace(instance, nullptr, nullptr)));
  if (hasThreads) {
    TW_ASSIGN(threads, rt::takePieces(instance));
    TW_TRY(rt::watchThreads(instance, false));
  }
  forgetOldSpans();
  int64_t first = spans.empty() ? 0 : spans.front().begin;
  for (auto &pieces : threads)
    std::erase_if(pieces, [&](const rt::ThreadPool::Piece &piece) { return piece.begin < first; });
  return {};
}

void Recording::forgetOldSpans() {
  if (spans.size() > mostSpans)
    spans.erase(spans.begin(), spans.end() - mostSpans);
}

void Recording::note(void *self, int32_t dispatch, int64_t begin, int64_t end) {
  auto &recording = *static_cast<Recording *>(self);
  if (dispatch < 0 || static_cast<size_t>(dispatch) >= recording.times.size())
    return;
  DispatchTimes &times = recording.times[static_cast<size_t>(dispatch)];
  int64_t time = end - begin;
  times.min = times.calls ? std::min(times.min, time) : time;
  times.max = std::max(times.max, time);
  times.total += time;
  ++times.calls;
  if (recording.spans.size() == 2 * mostSpans)
    recording.forgetOldSpans();
  recording.spans.push_back({dispatch, begin, end});
}

} // namespace tw::cli
