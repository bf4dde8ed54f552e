// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for tensors on a device: aligned, growing.
#pragma once
#include "runtime/Device/Device.h"
#include <algorithm>
#include <utility>

namespace tw::rt {

class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other) noexcept
      : owner(other.owner), memory(std::exchange(other.memory, nullptr)),
        size(std::exchange(other.size, 0)) {}
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    std::swap(owner, other.owner);
    std::swap(memory, other.memory);
    std::swap(size, other.size);
    return *this;
  }
  ~DeviceBuffer() {
    if (memory)
      owner->free(memory);
  }

  bool holds(int64_t bytes) const { return memory && bytes <= size; }
  /// Makes room for `bytes`; the contents are lost when it has to grow, and the device must not be
  /// using them any more. `what` is in the error, after which the buffer is as before. Never leaves
  /// data() null on success.
  Status reserve(Device &device, const char *what, int64_t bytes) {
    if (holds(bytes))
      return {};
    TW_ASSIGN(void *fresh, device.allocate(what, bytes));
    if (memory)
      owner->free(memory);
    owner = &device;
    memory = static_cast<uint8_t *>(fresh);
    size = std::max<int64_t>(bytes, TW_ALIGNMENT);
    return {};
  }

  uint8_t *data() const { return memory; }
  int64_t capacity() const { return size; }

private:
  Device *owner = nullptr;
  uint8_t *memory = nullptr;
  int64_t size = 0;
};

} // namespace tw::rt
