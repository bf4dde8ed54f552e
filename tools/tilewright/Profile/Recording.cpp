// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Recording.h"
#include "../Failure.h"
#include <algorithm>

namespace tw::cli {

Status Recording::start(tw_instance *of, bool withThreads) {
  instance = of;
  hasThreads = withThreads;
  if (hasThreads)
    TW_TRY(rt::watchThreads(instance, true));
  TW_TRY(rt::watchDispatches(instance, true));
  return fromRuntime(tw_instance_record(instance, 1));
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
