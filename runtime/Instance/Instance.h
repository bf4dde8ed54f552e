// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running program: its state, temporaries, threads, and the sequence of one call.
#pragma once
#include "runtime/AlignedBuffer.h"
#include "runtime/Device/DeviceTimes.h"
#include "runtime/Instance/ArenaPlan.h"
#include "runtime/Instance/DecidedSizes.h"
#include "runtime/Instance/InputCheck.h"
#include "runtime/Instance/RecordedCalls.h"
#include "runtime/LoadedProgram.h"
#include "runtime/ThreadPool.h"
#include "runtime/Trace.h"
#include "tilewright/tilewright.h"
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tw::rt {

class Instance {
public:
  /// With its state at the initial values. threads: 0 for all cores. Errors: RUNTIME_17,
  /// RUNTIME_18.
  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const LoadedProgram> program,
                                                  int threads, bool usesGraphs = true);

  /// The sizes of each visible output for inputs of these sizes, without a run: nothing is
  /// reserved. See tw_program_output_sizes.
  static Result<std::vector<std::vector<int64_t>>>
  outputSizesFor(std::shared_ptr<const LoadedProgram> program, std::span<const tw_tensor> inputs);

  ~Instance();

  /// Where the caller's memory for outputs comes from: one tensor for each, or none at all; or a
  /// callback that is asked for it.
  struct Wanted {
    std::span<const tw_tensor> outputs = {};
    tw_allocate_callback allocate = nullptr;
    void *user = nullptr;
  };
  /// One call with host memory; see tw_instance_run and tw_instance_run_allocating.
  Status run(std::span<const tw_tensor> inputs, const Wanted &wanted);
  /// One call with the device's memory on the caller's stream; see tw_instance_enqueue.
  Status enqueue(Stream stream, std::span<const tw_tensor> inputs, const Wanted &wanted);
  /// Waits for what has been enqueued; see tw_instance_wait.
  Status wait();
  /// The visible output `index` of the last successful run, or nullptr.
  const tw_tensor *output(int32_t index) const;

  Status getState(std::string_view name, void *data, int64_t bytes);
  Status setState(std::string_view name, const void *data, int64_t bytes);
  /// No name: all state.
  Status resetState(std::optional<std::string_view> name);

  Status setTrace(tw_trace_callback callback, void *user);
  Status setCancel(tw_cancel_callback isCancelled, void *user);
  Status record(bool on);
  /// Of the following runs; an empty one removes it.
  Status observe(Observer observer);
  Status watchDispatches(bool on);
  Result<std::vector<Trace::Span>> takeSpans();
  Status watchThreads(bool on);
  Result<std::vector<std::vector<ThreadPool::Piece>>> takePieces();
  Status repeatDispatches(int64_t ns);
  std::vector<int64_t> temporaryBytes() const;
  const Trace &trace() const { return watched; }

  int threads() const { return pool->threads(); }
  tw_memory_info memory() const;
  tw_graph_info graphs() const;

private:
  /// An output during a call: where the program writes, and where the caller wants it.
  struct Output {
    int64_t bytes = 0;
    DeviceBuffer own;
    AlignedBuffer host;         // on the host, where the device has other memory
    void *target = nullptr;     // what the program writes to
    void *callerData = nullptr; // to copy to afterwards, when it is not the target
  };
  class Use;

  Instance(std::shared_ptr<const LoadedProgram> program, int threads);
  Status initialize();
  void renewThreads();

  Status call(std::span<const tw_tensor> inputs, const Wanted &wanted);
  Status prepare(std::span<const tw_tensor> inputs);
  Status allocateOutputs(const Wanted &wanted);
  Status compute(std::span<const tw_tensor> callers, std::span<const tw_tensor> wanted);
  /// A copy of the current call.
  Status copy(Copy kind, void *to, const void *from, int64_t bytes) {
    if (!isHost)
      return device.copy(kind, to, from, bytes, stream);
    if (bytes > 0)
      std::memcpy(to, from, bytes);
    return {};
  }
  Status reserve(DeviceBuffer &buffer, const std::string &what, int64_t bytes);
  Diagnostic withLargestTemporary(Diagnostic error) const;
  Status bindInputs(std::span<const tw_tensor> inputs, bool areSizesDecided);
  Status decideSizes();
  Status measureOutputs();
  Status bindOutputs(std::span<const tw_tensor> wanted);
  Status checkWriteBack() const;
  Status checkMutatedInputs(std::span<const tw_tensor> inputs) const;
  bool isOwnOutput(const void *data) const;
  /// Scalars are the host's on every device.
  bool isHostScalar(size_t output) const {
    return !isHost && metadata.outputs[output].kind != ValueKind::Tensor;
  }
  Status execute(uint32_t phase);
  Status deliver(std::span<const tw_tensor> callers);
  tw_call makeCall(uint32_t phase);

  Result<size_t> findState(std::string_view name, std::optional<int64_t> bytes) const;
  Status initializeState(size_t index);

  // InstanceDevice.cpp: what only other devices than the CPU need.
  Status initializeDevice();
  Status callInOrder(std::span<const tw_tensor> inputs, const Wanted &wanted);
  Status callCaptured(std::span<const tw_tensor> inputs, const Wanted &wanted);
  Diagnostic refuseToWait(std::string_view why, std::string_view help) const;
  Status checkDeviceMemory(std::span<const tw_tensor> tensors, bool areInputs) const;
  Status upload(std::span<const tw_tensor> inputs);
  Status bindHostMemory(size_t output);
  Status giveTimes();
  Status settle();
  Status findFailures(Stream stream);
  Diagnostic kernelFailure(size_t record, const int64_t values[3]) const;
  Status runOnHost(const tw_host_dispatch &dispatch);
  void *hostMemoryOf(const tw_host_dispatch &dispatch, int32_t number,
                     std::span<void *const> before) const;

  // InstanceWork.cpp: how the work of a call is enqueued.
  Status runProgram();
  std::string_view whyNoGraph() const;
  void describeCall();
  Status waitInCall(const char *why);
  int32_t keep(Status status);
  /// A dispatch on a device that is traced begins or ends.
  Status noteOnDevice(int32_t dispatch, bool begins);
  static int32_t launch(void *self, int32_t kernel, const tw_launch *launch);
  static int32_t copyWithin(void *self, void *to, const void *from, int64_t bytes);
  static int32_t fillWith(void *self, void *to, uint32_t pattern, int32_t bytes, int64_t count);
  static int32_t readBytes(void *self, void *to, const void *from, int64_t bytes);
  static int32_t onHost(void *self, const tw_host_dispatch *dispatch);
  static int32_t checkCancelled(void *self);

  /// The failure that a program states, with its place and values.
  static Diagnostic failedAssertion(std::string_view text, int64_t a, int64_t b);

  // What the program calls; `self` is the instance.
  static void parallelFor(void *self, tw_loop_body body, void *closure, int64_t count,
                          int64_t grain);
  static void fail(void *self, const char *message, int64_t a, int64_t b);
  static void note(void *self, int32_t dispatch, int32_t begin, void *const *buffers,
                   const int64_t *scalars);
  static const tw_callbacks callbacks, tracingCallbacks;

  std::shared_ptr<const LoadedProgram> program;
  const Metadata &metadata;
  Device &device;
  const bool isHost; // the device is the CPU
  std::unique_ptr<ThreadPool> pool;
  Trace watched;
  tw_cancel_callback isCancelled = nullptr;
  void *cancelUser = nullptr;
  int64_t askedAt = 0;                       // whether the current call is cancelled; 0: not yet
  std::atomic<const char *> usedBy{nullptr}; // the call that runs: its name
  std::atomic<std::thread::id> user;         // the thread that it is of

  std::vector<DeviceBuffer> state;
  std::vector<void *> statePointers;
  DeviceBuffer arena;
  AlignedBuffer workspace;            // of kernels that run on the host
  std::vector<bool> isWrittenInPlace; // by input: its new value goes where it is read
  ArenaPlanCache plans;
  int64_t arenaBytes = 0, arenaBound = 0;
  int64_t workspaceBytes = 0; // of each worker

  DecidedSizes decided;

  // Of the current call.
  SymbolValues symbols;
  std::vector<const void *> inputPointers;
  std::vector<std::vector<int64_t>> inputSizes; // copies: the caller's may be our own outputs'
  std::vector<const int64_t *> inputSizePointers;
  std::vector<DeviceBuffer> inputCopies;
  std::span<const tw_tensor> inputsRead; // the inputs in the device's memory
  std::vector<Output> outputs;
  std::vector<tw_tensor> allocated; // the caller's memory for the outputs that are handed out
  std::vector<std::vector<int64_t>> outputSizes;
  std::vector<int64_t *> outputSizePointers;
  std::vector<void *> outputPointers;
  std::vector<int64_t> bufferSizes;
  const int64_t *bufferOffsets = nullptr;
  std::optional<Diagnostic> failure; // the first that the program, or a callback, has met
  std::vector<int> visible;          // indices of the outputs that are handed out
  std::vector<tw_tensor> results;    // of the visible outputs
  bool hasResults = false;

  // Of other devices than the CPU.
  Stream ownStream = nullptr, stream = nullptr; // of run, and of the current call
  Event lastCall = nullptr;                     // when it is done
  bool usesHostMemory = true;                   // does the current call?
  std::vector<DeviceBuffer> uploads;            // of inputs in host memory
  std::vector<uint64_t> scalars;                // the inputs that are, on the host
  std::vector<tw_tensor> given;                 // the same as tensors
  DeviceBuffer failureRecords;
  std::vector<int64_t> readRecords; // 3 of each
  std::vector<AlignedBuffer> hostCopies;
  DeviceTimes times;
  int64_t repeatedNs = 0;             // Observe.h
  std::vector<int64_t> dispatchesNs;  // what each took last
  bool isCaptured = false;            // the current call's stream, by the caller
  bool hasBeenCaptured = false;       // once, so that memory has to stay
  std::vector<DeviceBuffer> outgrown; // such memory

  // Calls as graphs.
  std::string noGraphs; // why there are none at all
  RecordedCalls recorded;
  CallValues called;            // of the current call
  WorkList collected;           // the work of the current call
  bool isCollecting = false;    // in place of enqueuing it
  const char *waited = nullptr; // why the current call has waited
  std::vector<uint64_t> scalarResults;
  tw_graph_info graphInfo = {};
  std::string whyOneByOne; // the last call
};

/// Marks the instance as in use by `call`, a name that stays, as long as it lives; refuses when it
/// already is. Has its device entered.
class Instance::Use {
public:
  Use(Instance &instance, const char *call)
      : instance(instance), call(call),
        taken(instance.usedBy.compare_exchange_strong(other, call, std::memory_order_acquire)) {
    if (taken)
      instance.user.store(std::this_thread::get_id(), std::memory_order_relaxed);
    if (taken && !instance.isHost)
      entered.emplace(instance.device);
    if (taken && !instance.pool->hasThreads())
      instance.renewThreads();
  }
  ~Use() {
    entered.reset();
    if (!taken)
      return;
    instance.user.store(std::thread::id(), std::memory_order_relaxed);
    instance.usedBy.store(nullptr, std::memory_order_release);
  }
  Status check() const {
    if (taken)
      return entered ? entered->status : Status();
    bool isOwn = instance.user.load() == std::this_thread::get_id();
    return Diagnostic{
        Code::RUNTIME_16,
        fmt::format("{} is called while {} uses the instance", call, other),
        {},
        {isOwn ? "both are calls of this thread" : "that is a call of another thread"},
        "create one instance for each thread that runs the program"};
  }

private:
  Instance &instance;
  const char *call, *other = nullptr; // the one that was there before
  bool taken;
  std::optional<EnteredDevice> entered;
};

} // namespace tw::rt
