// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/HostDevice.h"
#include "runtime/AlignedBuffer.h"
#include <fmt/format.h>

namespace tw::rt {

Result<void *> HostDevice::allocate(const char *what, int64_t bytes) {
  if (void *memory = allocateAligned(bytes))
    return memory;
  return Diagnostic{Code::RUNTIME_17,
                    fmt::format("there is not enough memory for {}: {} bytes", what, bytes)};
}

Status HostDevice::fill(void *to, uint32_t pattern, int bytes, int64_t count, Stream) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char *>(to) + i * bytes, &pattern, bytes);
  return {};
}

Status HostDevice::launch(Kernel, const tw_launch &, Stream) {
  return Diagnostic{Code::RUNTIME_19, "a program for the CPU launches a kernel on a device"};
}

Device &hostDevice() {
  static HostDevice device;
  return device;
}

} // namespace tw::rt
