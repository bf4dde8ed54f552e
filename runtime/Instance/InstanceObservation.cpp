// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is watched of an instance's runs, and who may cancel them.
#include "runtime/Instance/Instance.h"
#include <fmt/format.h>

namespace tw::rt {

Status Instance::setTrace(tw_trace_callback callback, void *user) {
  Use use(*this);
  TW_TRY(use.check());
  watched.setCallback(callback, user);
  return {};
}

Status Instance::setCancel(tw_cancel_callback callback, void *user) {
  Use use(*this);
  TW_TRY(use.check());
  isCancelled = callback;
  cancelUser = user;
  return {};
}

Status Instance::observe(Observer observer) {
  Use use(*this);
  TW_TRY(use.check());
  if (observer && !isHost)
    return Diagnostic{Code::RUNTIME_8,
                      fmt::format("dispatches on device {} cannot be observed", device.name())};
  watched.setObserver(std::move(observer));
  return {};
}

Status Instance::watchDispatches(bool on) {
  Use use(*this);
  TW_TRY(use.check());
  watched.keepSpans(on);
  return {};
}

Result<std::vector<Trace::Span>> Instance::takeSpans() {
  Use use(*this);
  TW_TRY(use.check());
  return watched.takeSpans();
}

Status Instance::watchThreads(bool on) {
  Use use(*this);
  TW_TRY(use.check());
  pool->watch(on);
  return {};
}

Result<std::vector<std::vector<ThreadPool::Piece>>> Instance::takePieces() {
  Use use(*this);
  TW_TRY(use.check());
  return pool->takePieces();
}

std::vector<int64_t> Instance::temporaryBytes() const {
  std::vector<int64_t> all;
  for (size_t i = 0; i < metadata.buffers.size(); ++i)
    all.push_back(metadata.buffers[i].bytes.value_or(i < bufferSizes.size() ? bufferSizes[i] : 0));
  return all;
}

Status Instance::record(bool on) {
  Use use(*this);
  TW_TRY(use.check());
  watched.record(on);
  return {};
}

} // namespace tw::rt
