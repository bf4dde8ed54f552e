// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of the tests' driver share.
#pragma once
#include "FakeCuda.h"
#include "runtime/Device/CudaApi.h"
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#define TW_FAKE extern "C" __attribute__((visibility("default")))
#define TW_LOCKED                                                                                  \
  std::lock_guard lock(fake::mutex);                                                               \
  ++fake::callCount

namespace fake {

struct Gpu;

/// Something that a device does, with all that it takes.
using Step = std::function<cu_result()>;

/// The work of a stream that becomes a graph.
struct Capture {
  std::vector<Step> steps;
  bool isBroken = false;
};

/// Work is done when somebody waits for it.
struct Queue {
  Gpu *gpu = nullptr;
  std::deque<Step> work;
  uint64_t done = 0, added = 0;
  std::shared_ptr<Capture> capture; // while the stream is captured
  void add(Step step) {
    work.push_back(std::move(step));
    ++added;
  }
};

extern std::recursive_mutex mutex;
extern std::map<std::string, uint64_t> counts;
extern uint64_t callCount; // of the driver's functions

uint64_t nextHandleValue();
template <typename T>
T newHandle() {
  return reinterpret_cast<T>(nextHandleValue());
}

/// A number of the environment.
long setting(const char *name, long otherwise);

/// The queue of a stream of the current context; an error of a call that needs one.
cu_result find(cu_stream stream, std::shared_ptr<Queue> &queue);
cu_result addWork(cu_stream stream, Step step);
/// Does the work of a queue up to a position.
cu_result runUntil(Queue &queue, uint64_t position);

bool isAnythingCaptured();
/// What a capture of any stream forbids, and ends; gives `error`.
cu_result breakCaptures(cu_result error);

// Work whose addresses and sizes are checked and copied now, and checked again when it is done.
cu_result launchStep(cu_function function, const uint32_t *grid, const uint32_t *block,
                     uint32_t sharedBytes, void **arguments, Step &step);
cu_result copyStep(cu_address to, cu_address from, size_t bytes, Step &step);
cu_result fillStep(cu_address to, uint32_t pattern, size_t patternBytes, size_t count, Step &step);

} // namespace fake
