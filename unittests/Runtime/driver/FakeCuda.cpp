// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests' libcuda.so.1: GPUs in host memory, stricter than real ones (docs/devices.md, "How it
// is tested"). Environment: FAKE_CUDA_DEVICES, FAKE_CUDA_VERSION (12080), FAKE_CUDA_ARCHITECTURE
// (90), FAKE_CUDA_MEMORY (bytes), FAKE_CUDA_FAULT (1: kernels meet an illegal address). Its
// other parts: FakeEvents.cpp, FakeCode.cpp, FakeGraphs.cpp.
#include "FakeDriver.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace fake {

std::recursive_mutex mutex;
std::map<std::string, uint64_t> counts;
uint64_t callCount = 0;
static uint64_t nextHandle = 0x7f0000000000;
uint64_t nextHandleValue() { return nextHandle += 16; }

long setting(const char *name, long otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::strtol(text, nullptr, 10) : otherwise;
}

} // namespace fake

using namespace fake;

namespace {

constexpr cu_result invalidContext = 201;
constexpr size_t page = 4096, usualMemory = size_t(64) << 20;

} // namespace

struct fake::Gpu {
  int ordinal = 0, users = 0;
  cu_result fault = CU_SUCCESS;
  uint8_t *memory = nullptr; // pages that nobody may touch but while work runs
  size_t reserved = 0;       // addresses; they are not used twice
  size_t used = 0, live = 0;
  std::map<uint64_t, size_t> allocations; // by address; what was freed is never used again
  std::shared_ptr<Queue> defaultQueue = std::make_shared<Queue>();
};

namespace {

bool started = false;
std::vector<std::unique_ptr<Gpu>> gpus;
std::map<void *, std::shared_ptr<Queue>> streams;
thread_local std::vector<Gpu *> current;
int running = 0; // nesting of work that runs

/// Opens the memory that is allocated, for as long as work runs.
class Opened {
public:
  Opened() {
    if (running++ == 0)
      protect(PROT_READ | PROT_WRITE);
  }
  ~Opened() {
    if (--running == 0)
      protect(PROT_NONE);
  }

private:
  static void protect(int access) {
    for (auto &gpu : gpus)
      for (auto [address, bytes] : gpu->allocations)
        mprotect(reinterpret_cast<void *>(address), bytes, access);
  }
};

} // namespace

cu_result fake::runUntil(Queue &queue, uint64_t position) {
  Opened opened;
  while (queue.done < position && !queue.work.empty()) {
    auto step = std::move(queue.work.front());
    queue.work.pop_front();
    ++queue.done;
    if (queue.gpu->fault)
      continue;
    queue.gpu->fault = step();
  }
  return queue.gpu->fault;
}

namespace {

/// The allocation of any GPU that has all these bytes.
Gpu *ownerOf(uint64_t address, size_t bytes) {
  for (auto &gpu : gpus) {
    auto after = gpu->allocations.upper_bound(address);
    if (after == gpu->allocations.begin())
      continue;
    auto [begin, size] = *std::prev(after);
    if (address - begin < size && bytes <= size - (address - begin))
      return gpu.get();
  }
  return nullptr;
}

bool isDeviceAddress(const void *address) {
  for (auto &gpu : gpus)
    if (gpu->memory && address >= gpu->memory && address < gpu->memory + gpu->reserved)
      return true;
  return false;
}

} // namespace

bool fake::isAnythingCaptured() {
  return std::any_of(streams.begin(), streams.end(),
                     [](auto &stream) { return stream.second->capture != nullptr; });
}

cu_result fake::breakCaptures(cu_result error) {
  for (auto &stream : streams)
    if (stream.second->capture)
      stream.second->capture->isBroken = true;
  return error;
}

cu_result fake::find(cu_stream stream, std::shared_ptr<Queue> &queue) {
  if (current.empty())
    return invalidContext;
  if (current.back()->fault)
    return current.back()->fault;
  if (!stream && isAnythingCaptured())
    return breakCaptures(CU_ERROR_CAPTURE_IMPLICIT);
  if (!stream)
    return queue = current.back()->defaultQueue, CU_SUCCESS;
  auto found = streams.find(stream);
  if (found == streams.end() || found->second->gpu != current.back())
    return CU_ERROR_INVALID_HANDLE;
  return queue = found->second, CU_SUCCESS;
}

cu_result fake::addWork(cu_stream stream, Step step) {
  std::shared_ptr<Queue> queue;
  if (cu_result error = find(stream, queue))
    return error;
  if (queue->capture && queue->capture->isBroken)
    return CU_ERROR_CAPTURE_INVALIDATED;
  if (queue->capture)
    queue->capture->steps.push_back(std::move(step));
  else
    queue->add(std::move(step));
  return CU_SUCCESS;
}

cu_result fake::copyStep(cu_address to, cu_address from, size_t bytes, Step &step) {
  if (!ownerOf(to, bytes) || !ownerOf(from, bytes))
    return CU_ERROR_INVALID_VALUE;
  step = [=]() -> cu_result {
    if (!ownerOf(to, bytes) || !ownerOf(from, bytes))
      return CU_ERROR_ILLEGAL_ADDRESS; // freed meanwhile
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return CU_SUCCESS;
  };
  return CU_SUCCESS;
}

cu_result fake::fillStep(cu_address to, uint32_t pattern, size_t patternBytes, size_t count,
                         Step &step) {
  bool isPattern = patternBytes == 1 || patternBytes == 2 || patternBytes == 4;
  size_t bytes = count * patternBytes;
  if (!isPattern || !ownerOf(to, bytes))
    return CU_ERROR_INVALID_VALUE;
  step = [=]() -> cu_result {
    if (!ownerOf(to, bytes))
      return CU_ERROR_ILLEGAL_ADDRESS;
    for (size_t i = 0; i < count; ++i)
      std::memcpy(reinterpret_cast<char *>(to) + i * patternBytes, &pattern, patternBytes);
    return CU_SUCCESS;
  };
  return CU_SUCCESS;
}

namespace {

cu_result fill(cu_address to, uint32_t pattern, size_t patternBytes, size_t count,
               cu_stream stream) {
  Step step;
  if (cu_result error = fillStep(to, pattern, patternBytes, count, step))
    return error;
  return addWork(stream, std::move(step));
}

size_t memoryOf(const Gpu &) { return size_t(setting("FAKE_CUDA_MEMORY", usualMemory)); }

Gpu *gpuOf(cu_device device) {
  return device >= 0 && size_t(device) < gpus.size() ? gpus[size_t(device)].get() : nullptr;
}

} // namespace

TW_FAKE uint64_t fakeCudaCount(const char *what) {
  std::lock_guard lock(mutex);
  if (std::string(what) == "calls")
    return callCount;
  if (std::string(what) == "live bytes") {
    uint64_t live = 0;
    for (auto &gpu : gpus)
      live += gpu->live;
    return live;
  }
  return counts[what];
}

//===----------------------------------------------------------------------===//
// The driver, devices, contexts
//===----------------------------------------------------------------------===//

TW_FAKE cu_result cuInit(uint32_t) {
  TW_LOCKED;
  if (started)
    return CU_SUCCESS;
  long count = setting("FAKE_CUDA_DEVICES", 2);
  if (count == 0)
    return CU_ERROR_NO_DEVICE;
  for (long i = 0; i < count; ++i) {
    gpus.push_back(std::make_unique<Gpu>());
    gpus.back()->ordinal = int(i);
    gpus.back()->defaultQueue->gpu = gpus.back().get();
  }
  started = true;
  return CU_SUCCESS;
}

TW_FAKE cu_result cuDriverGetVersion(int32_t *version) {
  *version = int32_t(setting("FAKE_CUDA_VERSION", 12080));
  return CU_SUCCESS;
}

TW_FAKE cu_result cuGetErrorName(cu_result error, const char **name) {
  switch (error) {
  case CU_ERROR_INVALID_VALUE:
    return *name = "CUDA_ERROR_INVALID_VALUE", CU_SUCCESS;
  case CU_ERROR_ILLEGAL_ADDRESS:
    return *name = "CUDA_ERROR_ILLEGAL_ADDRESS", CU_SUCCESS;
  case CU_ERROR_INVALID_IMAGE:
    return *name = "CUDA_ERROR_INVALID_IMAGE", CU_SUCCESS;
  case CU_ERROR_NOT_FOUND:
    return *name = "CUDA_ERROR_NOT_FOUND", CU_SUCCESS;
  default:
    return CU_ERROR_INVALID_VALUE;
  }
}

TW_FAKE cu_result cuGetErrorString(cu_result, const char **text) {
  return *text = "so says the tests' driver", CU_SUCCESS;
}

TW_FAKE cu_result cuDeviceGetCount(int32_t *count) {
  TW_LOCKED;
  if (!started)
    return CU_ERROR_NOT_INITIALIZED;
  return *count = int32_t(gpus.size()), CU_SUCCESS;
}

TW_FAKE cu_result cuDeviceGet(cu_device *device, int32_t ordinal) {
  TW_LOCKED;
  return gpuOf(ordinal) ? (*device = ordinal, CU_SUCCESS) : CU_ERROR_INVALID_DEVICE;
}

TW_FAKE cu_result cuDeviceGetName(char *name, int32_t length, cu_device) {
  std::snprintf(name, size_t(length), "Fake GPU");
  return CU_SUCCESS;
}

TW_FAKE cu_result cuDeviceGetAttribute(int32_t *value, int32_t attribute, cu_device) {
  long architecture = setting("FAKE_CUDA_ARCHITECTURE", 90);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAJOR:
    return *value = int32_t(architecture / 10), CU_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MINOR:
    return *value = int32_t(architecture % 10), CU_SUCCESS;
  default:
    return CU_ERROR_INVALID_VALUE;
  }
}

TW_FAKE cu_result cuDeviceTotalMem_v2(size_t *bytes, cu_device device) {
  TW_LOCKED;
  return gpuOf(device) ? (*bytes = memoryOf(*gpuOf(device)), CU_SUCCESS) : CU_ERROR_INVALID_DEVICE;
}

TW_FAKE cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device) {
  TW_LOCKED;
  Gpu *gpu = gpuOf(device);
  if (!gpu)
    return CU_ERROR_INVALID_DEVICE;
  if (!gpu->memory) {
    gpu->reserved = std::max(memoryOf(*gpu) * 2, usualMemory);
    void *memory =
        mmap(nullptr, gpu->reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return CU_ERROR_OUT_OF_MEMORY;
    gpu->memory = static_cast<uint8_t *>(memory);
  }
  ++gpu->users;
  return *context = reinterpret_cast<cu_context>(gpu), CU_SUCCESS;
}

TW_FAKE cu_result cuDevicePrimaryCtxRelease_v2(cu_device device) {
  TW_LOCKED;
  Gpu *gpu = gpuOf(device);
  if (!gpu || gpu->users == 0)
    return invalidContext;
  if (--gpu->users == 0) {
    if (gpu->fault)
      counts["live graphs"] = 0; // which nobody could destroy
    gpu->fault = CU_SUCCESS;     // as if the process were a new one
    gpu->defaultQueue->work.clear();
    gpu->live = gpu->used = 0;
    gpu->allocations.clear();
    munmap(gpu->memory, gpu->reserved);
    gpu->memory = nullptr;
  }
  return CU_SUCCESS;
}

TW_FAKE cu_result cuCtxPushCurrent_v2(cu_context context) {
  TW_LOCKED;
  auto *gpu = reinterpret_cast<Gpu *>(context);
  current.push_back(gpu);
  return gpu->users > 0 ? CU_SUCCESS : CU_ERROR_CONTEXT_IS_DESTROYED;
}

TW_FAKE cu_result cuCtxPopCurrent_v2(cu_context *context) {
  if (current.empty())
    return invalidContext;
  *context = reinterpret_cast<cu_context>(current.back());
  current.pop_back();
  return CU_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TW_FAKE cu_result cuMemGetInfo_v2(size_t *free, size_t *total) {
  TW_LOCKED;
  if (current.empty())
    return invalidContext;
  *total = memoryOf(*current.back());
  *free = *total - std::min(*total, current.back()->live);
  return CU_SUCCESS;
}

TW_FAKE cu_result cuMemAlloc_v2(cu_address *address, size_t bytes) {
  TW_LOCKED;
  if (current.empty())
    return invalidContext;
  Gpu &gpu = *current.back();
  if (gpu.fault)
    return gpu.fault;
  if (isAnythingCaptured())
    return breakCaptures(CU_ERROR_CAPTURE_UNSUPPORTED);
  size_t rounded = (bytes + page - 1) / page * page;
  if (bytes == 0)
    return CU_ERROR_INVALID_VALUE;
  // One page that nobody owns lies between.
  if (bytes > gpu.reserved || gpu.live + rounded > memoryOf(gpu) ||
      gpu.used + rounded + page > gpu.reserved)
    return CU_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<uint64_t>(gpu.memory) + gpu.used;
  gpu.used += rounded + page;
  gpu.live += rounded;
  gpu.allocations[*address] = rounded;
  Opened opened;
  std::memset(reinterpret_cast<void *>(*address), 0xA5, rounded);
  return CU_SUCCESS;
}

TW_FAKE cu_result cuMemFree_v2(cu_address address) {
  TW_LOCKED;
  if (isAnythingCaptured())
    return breakCaptures(CU_ERROR_CAPTURE_UNSUPPORTED);
  for (auto &gpu : gpus)
    if (auto found = gpu->allocations.find(address); found != gpu->allocations.end()) {
      gpu->live -= found->second;
      gpu->allocations.erase(found);
      return gpu->fault;
    }
  return CU_ERROR_INVALID_VALUE;
}

TW_FAKE cu_result cuMemcpyHtoDAsync_v2(cu_address to, const void *from, size_t bytes,
                                       cu_stream stream) {
  TW_LOCKED;
  if (!ownerOf(to, bytes) || isDeviceAddress(from))
    return CU_ERROR_INVALID_VALUE;
  ++counts["uploads"];
  counts["uploaded bytes"] += bytes;
  return addWork(stream, [=]() -> cu_result {
    if (!ownerOf(to, bytes))
      return CU_ERROR_ILLEGAL_ADDRESS;
    std::memcpy(reinterpret_cast<void *>(to), from, bytes);
    return CU_SUCCESS;
  });
}

TW_FAKE cu_result cuMemcpyDtoHAsync_v2(void *to, cu_address from, size_t bytes, cu_stream stream) {
  TW_LOCKED;
  if (!ownerOf(from, bytes) || isDeviceAddress(to))
    return CU_ERROR_INVALID_VALUE;
  ++counts["downloads"];
  return addWork(stream, [=]() -> cu_result {
    if (!ownerOf(from, bytes))
      return CU_ERROR_ILLEGAL_ADDRESS;
    std::memcpy(to, reinterpret_cast<void *>(from), bytes);
    return CU_SUCCESS;
  });
}

TW_FAKE cu_result cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t bytes,
                                       cu_stream stream) {
  TW_LOCKED;
  Step step;
  if (cu_result error = copyStep(to, from, bytes, step))
    return error;
  return addWork(stream, std::move(step));
}

TW_FAKE cu_result cuMemsetD8Async(cu_address to, uint8_t value, size_t count, cu_stream stream) {
  TW_LOCKED;
  return fill(to, value, 1, count, stream);
}
TW_FAKE cu_result cuMemsetD16Async(cu_address to, uint16_t value, size_t count, cu_stream stream) {
  TW_LOCKED;
  return fill(to, value, 2, count, stream);
}
TW_FAKE cu_result cuMemsetD32Async(cu_address to, uint32_t value, size_t count, cu_stream stream) {
  TW_LOCKED;
  return fill(to, value, 4, count, stream);
}

TW_FAKE cu_result cuPointerGetAttribute(void *value, int32_t attribute, cu_address address) {
  TW_LOCKED;
  Gpu *owner = ownerOf(address, 1);
  if (!owner)
    return CU_ERROR_INVALID_VALUE;
  int32_t number = attribute == CU_POINTER_MEMORY_TYPE ? CU_MEMORY_DEVICE : owner->ordinal;
  std::memcpy(value, &number, sizeof number);
  return CU_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

TW_FAKE cu_result cuStreamCreate(cu_stream *stream, uint32_t) {
  TW_LOCKED;
  if (current.empty())
    return invalidContext;
  *stream = newHandle<cu_stream>();
  streams[*stream] = std::make_shared<Queue>();
  streams[*stream]->gpu = current.back();
  return CU_SUCCESS;
}

TW_FAKE cu_result cuStreamDestroy_v2(cu_stream stream) {
  TW_LOCKED;
  auto found = streams.find(stream);
  if (found == streams.end())
    return CU_ERROR_INVALID_HANDLE;
  cu_result result = runUntil(*found->second, found->second->added);
  streams.erase(found);
  return result;
}

TW_FAKE cu_result cuStreamSynchronize(cu_stream stream) {
  TW_LOCKED;
  std::shared_ptr<Queue> queue;
  if (cu_result error = find(stream, queue))
    return error;
  ++counts["waits"];
  if (queue->capture)
    return breakCaptures(CU_ERROR_CAPTURE_UNSUPPORTED);
  return runUntil(*queue, queue->added);
}

TW_FAKE cu_result cuStreamIsCapturing(cu_stream stream, int32_t *status) {
  TW_LOCKED;
  std::shared_ptr<Queue> queue;
  if (cu_result error = find(stream, queue))
    return error;
  *status = !queue->capture            ? CU_CAPTURE_NONE
            : queue->capture->isBroken ? CU_CAPTURE_INVALIDATED
                                       : CU_CAPTURE_ACTIVE;
  return CU_SUCCESS;
}

TW_FAKE cu_result cuStreamGetCtx(cu_stream stream, cu_context *context) {
  TW_LOCKED;
  auto found = streams.find(stream);
  if (found == streams.end())
    return CU_ERROR_INVALID_HANDLE;
  return *context = reinterpret_cast<cu_context>(found->second->gpu), CU_SUCCESS;
}
