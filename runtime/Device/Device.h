// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program runs on: memory, and work that is done in the order of streams (docs/devices.md).
// On the CPU memory is the process's, and all work is done when the call returns.
#pragma once
#include "Support/Diagnostic.h"
#include "runtime/ProgramABI.h"
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::rt {

/// The device's own names for things; null on the CPU.
using Stream = void *;
using Event = void *;
using Kernel = void *;

/// A kernel of an artifact's device code: which image has it, under which name, and the most
/// dynamic shared memory that a launch of it takes.
struct KernelPlace {
  std::string name;
  size_t image = 0;
  int64_t sharedBytes = 0;
};

/// Code on a device; belongs to whoever loaded it.
class DeviceCode {
public:
  virtual ~DeviceCode() = default;
  /// One for each KernelPlace.
  std::vector<Kernel> kernels;
};

enum class Copy { ToDevice, ToHost, Within };

class WorkList;

/// The work of a call as a device has it: one launch enqueues all of it.
class DeviceGraph {
public:
  virtual ~DeviceGraph() = default;
  /// Makes piece `index` what it is in `work`, a list of the form that it was made of, in launches
  /// from now on.
  virtual Status change(const WorkList &work, size_t index) = 0;
  virtual Status launch(Stream stream) = 0;
};

/// What is known of a device of this machine.
struct DeviceFacts {
  std::string name;         // "cuda:0"
  std::string model;        // "NVIDIA H200"
  std::string architecture; // "sm_90"
  int64_t bytes = 0;        // of memory
};

/// All members but name, isHost, checkArchitecture, enter, allocate and free expect that the
/// calling thread has entered the device. Errors are RUNTIME_17 (memory), RUNTIME_20 and RUNTIME_21
/// as below, and RUNTIME_22 for whatever else a driver refuses.
class Device {
public:
  virtual ~Device() = default;
  explicit Device(bool isHost) : host(isHost) {}
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  /// "cpu", "cuda:1".
  virtual const std::string &name() const = 0;
  /// Whether its memory is the process's own, and work is done at once.
  bool isHost() const { return host; }
  /// Whether code for this architecture ("sm_90a") runs on it. RUNTIME_20.
  virtual Status checkArchitecture(std::string_view architecture) const = 0;
  /// Makes it the calling thread's, and gives back what was. An error is the device's fault, of
  /// this call or of an earlier one.
  virtual Status enter() = 0;
  virtual void leave() = 0;

  /// At least `bytes` bytes aligned to TW_ALIGNMENT; `what` they are for is in the error. Enters by
  /// itself.
  virtual Result<void *> allocate(const char *what, int64_t bytes) = 0;
  virtual void free(void *memory) = 0;
  /// Whether the memory of a tensor, called `what` and `name` in the error, is this device's.
  /// RUNTIME_21.
  virtual Status checkMemory(std::string_view what, std::string_view name, const void *memory) = 0;

  virtual Status copy(Copy kind, void *to, const void *from, int64_t bytes, Stream stream) = 0;
  /// Writes `pattern`, of 1, 2 or 4 bytes, `count` times.
  virtual Status fill(void *to, uint32_t pattern, int bytes, int64_t count, Stream stream) = 0;

  virtual Result<Stream> createStream() = 0;
  virtual void destroyStream(Stream stream) = 0;
  /// Whether a caller's stream is this device's. RUNTIME_21.
  virtual Status checkStream(Stream stream) = 0;
  virtual Status wait(Stream stream) = 0;
  /// Whether what is enqueued becomes part of a graph of the caller's.
  virtual Result<bool> isCaptured(Stream) { return false; }

  virtual Result<Event> createEvent(bool timed) = 0;
  virtual void destroyEvent(Event event) = 0;
  virtual Status record(Event event, Stream stream) = 0;
  /// All that comes to the stream from now on waits for what came before the event.
  virtual Status waitFor(Stream stream, Event event) = 0;
  /// Whether all that came before it has been done.
  virtual Result<bool> hasHappened(Event) { return true; }
  /// Nanoseconds between two timed events that have happened.
  virtual Result<int64_t> elapsed(Event from, Event to) = 0;

  /// Loads images, which must live as long as what is returned. RUNTIME_7: the driver does not
  /// take one, or it lacks a kernel.
  virtual Result<std::unique_ptr<DeviceCode>> load(std::span<const std::span<const uint8_t>> images,
                                                   std::span<const KernelPlace> kernels) = 0;
  virtual Status launch(Kernel kernel, const tw_launch &launch, Stream stream) = 0;

  /// Why there are no graphs; empty: there are.
  virtual std::string whyNoGraphs() const { return "the device has none"; }
  /// RUNTIME_22: the driver does not make one.
  virtual Result<std::unique_ptr<DeviceGraph>> makeGraph(const WorkList &) {
    return Diagnostic{Code::RUNTIME_22, whyNoGraphs()};
  }

private:
  const bool host;
};

/// Has a device entered as long as it lives; `status` says whether that worked.
class EnteredDevice {
public:
  explicit EnteredDevice(Device &device) : device(device), status(device.enter()) {}
  ~EnteredDevice() {
    if (status)
      device.leave();
  }
  EnteredDevice(const EnteredDevice &) = delete;
  EnteredDevice &operator=(const EnteredDevice &) = delete;

private:
  Device &device;

public:
  const Status status;
};

/// The process's memory and threads.
Device &hostDevice();

/// The device "cpu", "cuda" (the first GPU) or "cuda:N". RUNTIME_8: there is no such thing, or it
/// cannot be used, and why.
Result<std::shared_ptr<Device>> openDevice(std::string_view name);

} // namespace tw::rt
