// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU as a device: memory of the process, copies that are done at once, nothing to wait for.
#pragma once
#include "runtime/Device/Device.h"
#include <cstdlib>
#include <cstring>

namespace tw::rt {

class HostDevice final : public Device {
public:
  HostDevice() : Device(/*isHost=*/true) {}
  const std::string &name() const override {
    static const std::string cpu = "cpu";
    return cpu;
  }
  Status checkArchitecture(std::string_view) const override { return {}; }
  Status enter() override { return {}; }
  void leave() override {}

  Result<void *> allocate(const char *what, int64_t bytes) override;
  void free(void *memory) override { std::free(memory); }
  Status checkMemory(std::string_view, std::string_view, const void *) override { return {}; }

  Status copy(Copy, void *to, const void *from, int64_t bytes, Stream) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status fill(void *to, uint32_t pattern, int bytes, int64_t count, Stream) override;

  Result<Stream> createStream() override { return Stream(); }
  void destroyStream(Stream) override {}
  Status checkStream(Stream) override { return {}; }
  Status wait(Stream) override { return {}; }
  Result<Event> createEvent(bool) override { return Event(); }
  void destroyEvent(Event) override {}
  Status record(Event, Stream) override { return {}; }
  Status waitFor(Stream, Event) override { return {}; }
  Result<int64_t> elapsed(Event, Event) override { return 0; }

  Result<std::unique_ptr<DeviceCode>> load(std::span<const std::span<const uint8_t>>,
                                           std::span<const KernelPlace>) override {
    return std::make_unique<DeviceCode>();
  }
  /// Programs for the CPU call their kernels themselves.
  Status launch(Kernel, const tw_launch &, Stream) override;
};

} // namespace tw::rt
