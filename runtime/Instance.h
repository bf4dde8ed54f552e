// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running program: its state, temporaries, threads, and the sequence of one call.
#pragma once
#include "runtime/AlignedBuffer.h"
#include "runtime/ArenaPlan.h"
#include "runtime/InputCheck.h"
#include "runtime/LoadedProgram.h"
#include "runtime/ThreadPool.h"
#include "runtime/Trace.h"
#include "tilewright/tilewright.h"
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::rt {

class Instance {
public:
  /// With its state at the initial values. threads: 0 for all cores. Errors: RUNTIME_17,
  /// RUNTIME_18.
  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const LoadedProgram> program,
                                                  int threads);

  /// The sizes of each visible output for inputs of these sizes, without a run: nothing is
  /// reserved. See tw_program_output_sizes.
  static Result<std::vector<std::vector<int64_t>>>
  outputSizesFor(std::shared_ptr<const LoadedProgram> program, std::span<const tw_tensor> inputs);

  ~Instance();

  /// One call; see tw_instance_run.
  Status run(std::span<const tw_tensor> inputs, std::span<const tw_tensor> outputs);
  /// The same; see tw_instance_run_allocating.
  Status run(std::span<const tw_tensor> inputs, tw_allocate_callback allocate, void *user);
  /// The visible output `index` of the last successful run, or nullptr.
  const tw_tensor *output(int32_t index) const;

  Status getState(std::string_view name, void *data, int64_t bytes);
  Status setState(std::string_view name, const void *data, int64_t bytes);
  /// No name: all state.
  Status resetState(std::optional<std::string_view> name);

  Status setTrace(tw_trace_callback callback, void *user);
  Status record(bool on);
  /// Of the following runs; an empty one removes it.
  Status observe(Observer observer);
  const Trace &trace() const { return watched; }

  int threads() const { return pool->threads(); }
  tw_memory_info memory() const;

private:
  /// An output during a call: where the program writes, and where the caller wants it.
  struct Output {
    int64_t bytes = 0;
    AlignedBuffer own;
    void *target = nullptr;     // what the program writes to
    void *callerData = nullptr; // to copy to afterwards, when it is not the target
  };
  class Use;

  Instance(std::shared_ptr<const LoadedProgram> program, int threads);
  Status initialize();
  void renewThreads();

  Status prepare(std::span<const tw_tensor> inputs);
  Status compute(std::span<const tw_tensor> inputs, std::span<const tw_tensor> outputs);
  Status bindInputs(std::span<const tw_tensor> inputs);
  Status decideSizes();
  Status measureOutputs();
  Status bindOutputs(std::span<const tw_tensor> inputs, std::span<const tw_tensor> outputs);
  Status checkWriteBack() const;
  bool isOwnOutput(const void *data) const;
  Status execute(uint32_t phase);
  void deliver(std::span<const tw_tensor> inputs);
  tw_call makeCall(uint32_t phase);

  Result<size_t> findState(std::string_view name, std::optional<int64_t> bytes) const;
  void initializeState(size_t index);

  // What the program calls; `self` is the instance.
  static void parallelFor(void *self, tw_loop_body body, void *closure, int64_t count,
                          int64_t grain);
  static void fail(void *self, const char *message, int64_t a, int64_t b);
  static void note(void *self, int32_t dispatch, int32_t begin, void *const *buffers,
                   const int64_t *scalars);
  static const tw_callbacks callbacks, tracingCallbacks;

  std::shared_ptr<const LoadedProgram> program;
  const Metadata &metadata;
  std::unique_ptr<ThreadPool> pool;
  Trace watched;
  std::atomic<bool> inUse{false};

  std::vector<AlignedBuffer> state;
  std::vector<void *> statePointers;
  AlignedBuffer arena, workspace;
  std::vector<bool> isWrittenInPlace; // by input: its new value goes where it is read
  ArenaPlanCache plans;
  int64_t arenaBytes = 0, arenaBound = 0;
  int64_t workspaceBytes = 0; // of each worker

  // Of the current call.
  SymbolValues symbols;
  std::vector<const void *> inputPointers;
  std::vector<std::vector<int64_t>> inputSizes; // copies: the caller's may be our own outputs'
  std::vector<const int64_t *> inputSizePointers;
  std::vector<AlignedBuffer> inputCopies;
  std::vector<Output> outputs;
  std::vector<tw_tensor> allocated; // the caller's memory for the outputs that are handed out
  std::vector<std::vector<int64_t>> outputSizes;
  std::vector<int64_t *> outputSizePointers;
  std::vector<void *> outputPointers;
  std::vector<int64_t> bufferSizes;
  const int64_t *bufferOffsets = nullptr;
  std::string failure, failurePlace;
  std::vector<int> visible;       // indices of the outputs that are handed out
  std::vector<tw_tensor> results; // of the visible outputs
  bool hasResults = false;
};

} // namespace tw::rt
