// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU through NVIDIA's driver, in its primary context, which the whole process shares.
#pragma once
#include "runtime/Device/CudaDriver.h"
#include "runtime/Device/TensorMaps.h"
#include <atomic>

namespace tw::rt {

/// What a launch hands to the driver: where its arguments are, and the tensor maps behind them.
struct LaunchArguments {
  static constexpr uint32_t most = 256; // 4 KiB of parameters hold no more than twice that
  static constexpr uint32_t mostMaps = 16;
  std::array<void *, most + mostMaps> pointers;
  std::array<TensorMap, mostMaps> encoded;
};

class CudaDevice final : public Device {
public:
  /// GPU number `ordinal`; one object for each as long as anybody has it. RUNTIME_8, RUNTIME_22.
  static Result<std::shared_ptr<Device>> open(std::string_view name, int ordinal);
  ~CudaDevice() override;

  const std::string &name() const override { return facts.name; }
  Status checkArchitecture(std::string_view architecture) const override;
  Status enter() override;
  void leave() override;

  Result<void *> allocate(const char *what, int64_t bytes) override;
  void free(void *memory) override;
  Status checkMemory(std::string_view what, std::string_view name, const void *memory) override;
  Status copy(Copy kind, void *to, const void *from, int64_t bytes, Stream stream) override;
  Status fill(void *to, uint32_t pattern, int bytes, int64_t count, Stream stream) override;

  Result<Stream> createStream() override;
  void destroyStream(Stream stream) override;
  Status checkStream(Stream stream) override;
  Status wait(Stream stream) override;
  Result<bool> isCaptured(Stream stream) override;
  Result<Event> createEvent(bool timed) override;
  void destroyEvent(Event event) override;
  Status record(Event event, Stream stream) override;
  Status waitFor(Stream stream, Event event) override;
  Result<bool> hasHappened(Event event) override;
  Result<int64_t> elapsed(Event from, Event to) override;

  Result<std::unique_ptr<DeviceCode>> load(std::span<const std::span<const uint8_t>> images,
                                           std::span<const KernelPlace> kernels) override;
  Status launch(Kernel kernel, const tw_launch &launch, Stream stream) override;
  std::string whyNoGraphs() const override { return driver.whyNoGraphs(); }
  Result<std::unique_ptr<DeviceGraph>> makeGraph(const WorkList &work) override;

private:
  friend class CudaGraph;
  CudaDevice(const CudaDriver &driver, DeviceFacts facts, cu_device device, cu_context context,
             int ordinal)
      : Device(/*isHost=*/false), driver(driver), facts(std::move(facts)), device(device),
        context(context), ordinal(ordinal) {}
  /// What a driver's function returned while `doing`; remembers a fault.
  Status check(cu_result result, const char *doing);
  /// RUNTIME_19: more arguments than any kernel has.
  Status prepare(const tw_launch &launch, LaunchArguments &arguments);
  Diagnostic faultText(cu_result fault) const;

  const CudaDriver &driver;
  const DeviceFacts facts;
  const cu_device device;
  const cu_context context;
  const int ordinal;
  TensorMaps tensorMaps;
  std::atomic<cu_result> fault{CU_SUCCESS}; // after which the context refuses everything
};

} // namespace tw::rt
