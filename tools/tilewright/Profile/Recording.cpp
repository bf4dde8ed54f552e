// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Recording.h"
#include "../Failure.h"
#include "../Statistics.h"
#include <algorithm>
#include <utility>

namespace tw::cli {

Status Recording::start(tw_instance *of, bool withThreads) {
  instance = of;
  hasThreads = withThreads;
  totalsNs.assign(times.size(), 0);
  timesOfCalls.assign(times.size(), {});
  ended = 0;
  if (hasThreads)
    TW_TRY(rt::watchThreads(instance, true));
  TW_TRY(rt::watchDispatches(instance, true));
  return fromRuntime(tw_instance_record(instance, 1));
}

void Recording::endCall() {
  size_t kept = std::max<size_t>(1, keptTimes / std::max<size_t>(1, times.size()));
  for (size_t i = 0; i < times.size(); ++i) {
    int64_t total = tw_instance_recorded(instance, static_cast<int32_t>(i)).total_ns;
    auto took = static_cast<float>(total - std::exchange(totalsNs[i], total));
    if (ended < kept)
      timesOfCalls[i].push_back(took);
    else
      timesOfCalls[i][ended % kept] = took;
  }
  ++ended;
}

std::optional<double> Recording::medianUs(size_t dispatch) const {
  if (dispatch >= timesOfCalls.size() || timesOfCalls[dispatch].empty())
    return std::nullopt;
  const std::vector<float> &all = timesOfCalls[dispatch];
  return statistics({all.begin(), all.end()}).median / 1e3;
}

Status Recording::stop() {
  TW_TRY(fromRuntime(tw_instance_record(instance, 0)));
  for (size_t i = 0; i < times.size(); ++i)
    times[i] = tw_instance_recorded(instance, static_cast<int32_t>(i));
  TW_ASSIGN(spans, rt::takeSpans(instance));
  TW_TRY(rt::watchDispatches(instance, false));
  if (!hasThreads)
    return {};
  TW_ASSIGN(threads, rt::takePieces(instance));
  TW_TRY(rt::watchThreads(instance, false));
  int64_t first = spans.empty() ? 0 : spans.front().begin;
  for (auto &pieces : threads)
    std::erase_if(pieces, [&](const rt::ThreadPool::Piece &piece) { return piece.begin < first; });
  addCallersPieces();
  return {};
}

void Recording::addCallersPieces() {
  std::vector<rt::ThreadPool::Piece> all;
  auto piece = threads[0].begin(), end = threads[0].end();
  for (const Span &span : spans) {
    auto next = std::find_if(piece, end, [&](const auto &each) { return each.begin > span.end; });
    if (piece == next)
      all.push_back({span.begin, span.end});
    all.insert(all.end(), piece, next);
    piece = next;
  }
  threads[0] = std::move(all);
}

} // namespace tw::cli
