// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of the tests' driver: positions in the work of streams.
#include "FakeDriver.h"
#include <chrono>

using namespace fake;

namespace {

struct Mark {
  std::shared_ptr<Queue> queue; // null: never recorded
  uint64_t position = 0;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
  std::shared_ptr<Capture> capture; // that it was recorded in
};

std::map<void *, std::shared_ptr<Mark>> events;

} // namespace

TW_FAKE cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, uint32_t) {
  TW_LOCKED;
  auto found = events.find(event);
  if (found == events.end())
    return CU_ERROR_INVALID_HANDLE;
  Mark mark = *found->second; // as it is now, whatever is recorded later
  std::shared_ptr<Queue> queue;
  if (cu_result error = find(stream, queue))
    return error;
  if (mark.capture != queue->capture && (mark.capture || mark.queue))
    return breakCaptures(CU_ERROR_CAPTURE_ISOLATION); // work of a capture is not done yet
  if (queue->capture)
    return CU_SUCCESS; // it is in order
  return addWork(stream, [mark]() -> cu_result {
    return mark.queue ? runUntil(*mark.queue, mark.position) : CU_SUCCESS;
  });
}

TW_FAKE cu_result cuEventCreate(cu_event *event, uint32_t) {
  TW_LOCKED;
  *event = newHandle<cu_event>();
  events[*event] = std::make_shared<Mark>();
  return CU_SUCCESS;
}

TW_FAKE cu_result cuEventDestroy_v2(cu_event event) {
  TW_LOCKED;
  return events.erase(event) ? CU_SUCCESS : CU_ERROR_INVALID_HANDLE;
}

TW_FAKE cu_result cuEventRecord(cu_event event, cu_stream stream) {
  TW_LOCKED;
  auto found = events.find(event);
  std::shared_ptr<Queue> queue;
  if (found == events.end())
    return CU_ERROR_INVALID_HANDLE;
  if (cu_result error = find(stream, queue))
    return error;
  if (queue->capture) {
    *found->second = {nullptr, 0, nullptr, queue->capture};
    return CU_SUCCESS;
  }
  auto time = std::make_shared<std::chrono::steady_clock::time_point>();
  queue->add([time]() -> cu_result {
    *time = std::chrono::steady_clock::now();
    return CU_SUCCESS;
  });
  *found->second = {queue, queue->added, time, nullptr};
  return CU_SUCCESS;
}

TW_FAKE cu_result cuEventQuery(cu_event event) {
  TW_LOCKED;
  auto found = events.find(event);
  if (found == events.end())
    return CU_ERROR_INVALID_HANDLE;
  const Mark &mark = *found->second;
  if (mark.capture || isAnythingCaptured())
    return breakCaptures(CU_ERROR_CAPTURE_UNSUPPORTED);
  return mark.queue && mark.queue->done < mark.position ? CU_ERROR_NOT_READY : CU_SUCCESS;
}

TW_FAKE cu_result cuEventSynchronize(cu_event event) {
  TW_LOCKED;
  auto found = events.find(event);
  if (found == events.end())
    return CU_ERROR_INVALID_HANDLE;
  ++counts["waits"];
  Mark mark = *found->second;
  return mark.queue ? runUntil(*mark.queue, mark.position) : CU_SUCCESS;
}

TW_FAKE cu_result cuEventElapsedTime(float *milliseconds, cu_event from, cu_event to) {
  TW_LOCKED;
  constexpr cu_result notReady = 600;
  for (cu_event event : {from, to}) {
    auto found = events.find(event);
    if (found == events.end() || !found->second->queue)
      return CU_ERROR_INVALID_HANDLE;
    if (found->second->queue->done < found->second->position)
      return notReady;
  }
  auto difference = *events[to]->time - *events[from]->time;
  *milliseconds = std::chrono::duration<float, std::milli>(difference).count();
  return CU_SUCCESS;
}
