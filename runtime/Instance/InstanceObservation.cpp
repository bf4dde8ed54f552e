// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is watched of an instance's runs, and who may cancel them.
#include "runtime/Instance/Instance.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::rt {

Status Instance::setTrace(tw_trace_callback callback, void *user) {
  Use use(*this, "tw_instance_set_trace");
  TW_TRY(use.check());
  watched.setCallback(callback, user);
  return {};
}

Status Instance::setCancel(tw_cancel_callback callback, void *user) {
  Use use(*this, "tw_instance_set_cancel");
  TW_TRY(use.check());
  isCancelled = callback;
  cancelUser = user;
  return {};
}

Status Instance::observe(Observer observer) {
  Use use(*this, "observing its dispatches");
  TW_TRY(use.check());
  if (observer && !isHost)
    return Diagnostic{Code::RUNTIME_8,
                      fmt::format("dispatches on device {} cannot be observed", device.name())};
  watched.setObserver(std::move(observer));
  return {};
}

Status Instance::watchDispatches(bool on) {
  Use use(*this, "watching its dispatches");
  TW_TRY(use.check());
  watched.keepSpans(on);
  return {};
}

Result<std::vector<Trace::Span>> Instance::takeSpans() {
  Use use(*this, "reading the times of its dispatches");
  TW_TRY(use.check());
  return watched.takeSpans();
}

Status Instance::watchThreads(bool on) {
  Use use(*this, "watching its threads");
  TW_TRY(use.check());
  pool->watch(on);
  return {};
}

Result<std::vector<std::vector<ThreadPool::Piece>>> Instance::takePieces() {
  Use use(*this, "reading the times of its threads");
  TW_TRY(use.check());
  return pool->takePieces();
}

Status Instance::repeatDispatches(int64_t ns) {
  Use use(*this, "repeating its dispatches");
  TW_TRY(use.check());
  repeatedNs = ns;
  return {};
}

/// Where dispatches are repeated, the work of one is collected first, and enqueued once before the
/// time begins: then the device is never done before all of it is there.
Status Instance::noteOnDevice(int32_t dispatch, bool begins) {
  constexpr int64_t most = 64;
  int64_t took = dispatchesNs.empty() ? 0 : dispatchesNs[dispatch];
  bool isRepeated = took > 0 && took < repeatedNs;
  if (begins && isRepeated) {
    collected.clear();
    isCollecting = true;
  }
  if (begins || !isCollecting)
    return times.note(dispatch, begins, stream);
  isCollecting = false;
  int64_t count = std::clamp<int64_t>(repeatedNs / took, 1, most);
  TW_TRY(collected.enqueue(device, stream));
  TW_TRY(times.noteAgain(count, stream));
  for (int64_t i = 0; i < count; ++i)
    TW_TRY(collected.enqueue(device, stream));
  return times.note(dispatch, begins, stream);
}

std::vector<int64_t> Instance::temporaryBytes() const {
  std::vector<int64_t> all;
  for (size_t i = 0; i < metadata.buffers.size(); ++i)
    all.push_back(metadata.buffers[i].bytes.value_or(i < bufferSizes.size() ? bufferSizes[i] : 0));
  return all;
}

/// `error`, that there is no memory for the temporaries, with the dispatch that makes the largest.
Diagnostic Instance::withLargestTemporary(Diagnostic error) const {
  std::vector<int64_t> sizes = temporaryBytes();
  auto largest = std::max_element(sizes.begin(), sizes.end());
  if (error.code != Code::RUNTIME_17 || largest == sizes.end())
    return error;
  int64_t step = metadata.buffers[size_t(largest - sizes.begin())].begin;
  for (const DispatchInfo &dispatch : metadata.dispatches)
    if (dispatch.step == step)
      error.notes.push_back(fmt::format("the largest of {} takes {} bytes, by dispatch {}{}{}",
                                        sizes.size(), *largest, dispatch.name,
                                        dispatch.source.empty() ? "" : ", from ", dispatch.source));
  return error;
}

Status Instance::record(bool on) {
  Use use(*this, "tw_instance_record");
  TW_TRY(use.check());
  watched.record(on);
  return {};
}

} // namespace tw::rt
