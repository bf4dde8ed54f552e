// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Instance/Instance.h"
#include "Support/Checked.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace tw::rt {

static Diagnostic outOfMemory(std::string_view what, int64_t bytes) {
  return {Code::RUNTIME_17,
          fmt::format("there is not enough memory for {}: {} bytes", what, bytes)};
}

static std::string named(std::string_view kind, std::string_view name) {
  return fmt::format("{} \"{}\"", kind, name);
}

static Diagnostic contradiction(std::string what) {
  return {Code::RUNTIME_19,
          "the program contradicts its metadata: " + std::move(what),
          {},
          {},
          "compile the model again"};
}

static bool isAligned(const void *data) {
  return reinterpret_cast<uintptr_t>(data) % TW_ALIGNMENT == 0;
}

// --- Creation
// --------------------------------------------------------------------------------------

Instance::Instance(std::shared_ptr<const LoadedProgram> loaded, int threads)
    : program(std::move(loaded)), metadata(program->metadata()), device(program->device()),
      isHost(device.isHost()), pool(std::make_unique<ThreadPool>(threads)),
      watched(metadata.dispatches.size()), times(device), recorded(device) {
  state.resize(metadata.state.size());
  inputPointers.resize(metadata.inputs.size());
  for (const ValueInfo &input : metadata.inputs)
    inputSizes.push_back(input.fixedBytes ? input.fixedSizes
                                          : std::vector<int64_t>(input.sizes.size()));
  for (auto &sizes : inputSizes)
    inputSizePointers.push_back(sizes.data());
  inputCopies.resize(metadata.inputs.size());
  isWrittenInPlace.resize(metadata.inputs.size());
  for (const MutatedInput &m : metadata.mutatedInputs)
    isWrittenInPlace[m.input] = isWrittenInPlace[m.input] || m.isInPlace;
  outputs.resize(metadata.outputs.size());
  outputPointers.resize(metadata.outputs.size());
  bufferSizes.resize(metadata.buffers.size());
  for (size_t i = 0; i < metadata.outputs.size(); ++i) {
    std::vector<int64_t> sizes;
    for (const Size &size : metadata.outputs[i].sizes)
      sizes.push_back(size.fixed.value_or(-1));
    outputSizes.push_back(std::move(sizes));
    if (!metadata.outputs[i].hidden)
      visible.push_back(static_cast<int>(i));
  }
  for (auto &sizes : outputSizes)
    outputSizePointers.push_back(sizes.data());
}

Instance::~Instance() {
  if (ownStream) {
    EnteredDevice entered(device);
    [[maybe_unused]] Status settled = entered.status ? settle() : Status();
    if (entered.status) {
      device.destroyEvent(lastCall);
      device.destroyStream(ownStream);
    }
  }
  if (pool->hasThreads())
    return;
  // Nobody is left to be joined.
  [[maybe_unused]] ThreadPool *abandoned = pool.release();
}

/// In the child of a fork: its parent's pool may be in any state, and is left alone.
void Instance::renewThreads() {
  int threads = pool->threads();
  [[maybe_unused]] ThreadPool *abandoned = pool.release();
  pool = std::make_unique<ThreadPool>(threads);
}

Result<std::unique_ptr<Instance>> Instance::create(std::shared_ptr<const LoadedProgram> program,
                                                   int threads, bool usesGraphs) {
  constexpr int maxThreads = 1024;
  if (threads < 0 || threads > maxThreads)
    return Diagnostic{Code::RUNTIME_18,
                      fmt::format("{} threads were asked for, but 0 (all cores) to {} are possible",
                                  threads, maxThreads)};
  bool needsThreads = !program->metadata().device || program->metadata().device->usesHost;
  int wanted = needsThreads ? (threads ? threads : availableCores()) : 1;
  std::unique_ptr<Instance> instance(new Instance(std::move(program), wanted));
  instance->noGraphs = usesGraphs ? instance->device.whyNoGraphs() : "graphs are switched off";
  EnteredDevice entered(instance->device);
  TW_TRY(entered.status);
  TW_TRY(instance->initialize());
  return instance;
}

Result<std::vector<std::vector<int64_t>>>
Instance::outputSizesFor(std::shared_ptr<const LoadedProgram> program,
                         std::span<const tw_tensor> inputs) {
  Instance instance(std::move(program), 1); // phase SIZES touches no state
  TW_TRY(checkInputs(instance.metadata, inputs, instance.symbols, InputUse::Sizes));
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::copy_n(inputs[i].sizes, inputs[i].rank, instance.inputSizes[i].begin());
    instance.inputPointers[i] = inputs[i].data;
  }
  TW_TRY(instance.decideSizes());
  TW_TRY(instance.measureOutputs());
  std::vector<std::vector<int64_t>> sizes;
  for (int output : instance.visible)
    sizes.push_back(instance.outputSizes[output]);
  return sizes;
}

Status Instance::initialize() {
  if (!device.isHost())
    TW_TRY(initializeDevice());
  for (size_t i = 0; i < state.size(); ++i) {
    TW_TRY(state[i].reserve(device, named("state", metadata.state[i].name).c_str(),
                            metadata.state[i].bytes));
    statePointers.push_back(state[i].data());
    TW_TRY(initializeState(i));
  }
  return device.wait(ownStream);
}

// --- State
// -----------------------------------------------------------------------------------------

Status Instance::initializeState(size_t index) {
  const StateInfo &info = metadata.state[index];
  if (info.bytes == 0)
    return {};
  if (info.offset < 0)
    return device.fill(state[index].data(), 0, 1, info.bytes, ownStream);
  return device.copy(Copy::Within, state[index].data(), program->weights() + info.offset,
                     info.bytes, ownStream);
}

Result<size_t> Instance::findState(std::string_view name, std::optional<int64_t> bytes) const {
  for (size_t i = 0; i < metadata.state.size(); ++i) {
    if (metadata.state[i].name != name)
      continue;
    if (bytes && *bytes != metadata.state[i].bytes)
      return Diagnostic{Code::RUNTIME_14,
                        fmt::format("state \"{}\" has {} bytes, but a buffer of {} was given", name,
                                    metadata.state[i].bytes, *bytes)};
    return i;
  }
  std::string names;
  for (const StateInfo &info : metadata.state)
    names += (names.empty() ? "" : ", ") + info.name;
  return Diagnostic{Code::RUNTIME_15,
                    fmt::format("the program has no state named \"{}\"", name),
                    {},
                    {names.empty() ? "it has no state" : "it has: " + names},
                    {}};
}

Status Instance::getState(std::string_view name, void *data, int64_t bytes) {
  Use use(*this, "tw_instance_state_get");
  TW_TRY(use.check());
  TW_ASSIGN(size_t index, findState(name, bytes));
  TW_TRY(settle());
  if (bytes > 0)
    TW_TRY(device.copy(Copy::ToHost, data, state[index].data(), bytes, ownStream));
  return device.wait(ownStream);
}

Status Instance::setState(std::string_view name, const void *data, int64_t bytes) {
  Use use(*this, "tw_instance_state_set");
  TW_TRY(use.check());
  TW_ASSIGN(size_t index, findState(name, bytes));
  TW_TRY(settle());
  if (bytes > 0)
    TW_TRY(device.copy(Copy::ToDevice, state[index].data(), data, bytes, ownStream));
  return device.wait(ownStream);
}

Status Instance::resetState(std::optional<std::string_view> name) {
  Use use(*this, "tw_instance_state_reset");
  TW_TRY(use.check());
  size_t begin = 0, end = state.size();
  if (name) {
    TW_ASSIGN(begin, findState(*name, std::nullopt));
    end = begin + 1;
  }
  TW_TRY(settle());
  for (size_t i = begin; i < end; ++i)
    TW_TRY(initializeState(i));
  return device.wait(ownStream);
}

// --- One call ---

Status Instance::run(std::span<const tw_tensor> inputs, const Wanted &wanted) {
  Use use(*this, wanted.allocate ? "tw_instance_run_allocating" : "tw_instance_run");
  TW_TRY(use.check());
  usesHostMemory = true;
  stream = ownStream;
  if (isHost)
    return call(inputs, wanted);
  Status called = callInOrder(inputs, wanted);
  Status failures = findFailures(stream); // waits, for what failed may have begun to copy
  return called ? std::move(failures) : std::move(called);
}

Status Instance::call(std::span<const tw_tensor> inputs, const Wanted &wanted) {
  hasResults = false;
  if (!wanted.outputs.empty() && wanted.outputs.size() != visible.size())
    return Diagnostic{Code::RUNTIME_9,
                      fmt::format("the program has {} outputs, but {} were asked for",
                                  visible.size(), wanted.outputs.size())};
  TW_TRY(prepare(inputs));
  if (wanted.allocate)
    TW_TRY(allocateOutputs(wanted));
  return compute(inputs, wanted.allocate ? allocated : wanted.outputs);
}

Status Instance::allocateOutputs(const Wanted &wanted) {
  allocated.clear();
  for (size_t v = 0; v < visible.size(); ++v) {
    size_t i = visible[v];
    tw_tensor tensor{nullptr, outputs[i].bytes, static_cast<tw_dtype>(metadata.outputs[i].dtype),
                     static_cast<int32_t>(outputSizes[i].size()), outputSizes[i].data()};
    tensor.data = wanted.allocate(wanted.user, static_cast<int32_t>(v), &tensor);
    if (!tensor.data && tensor.bytes > 0)
      return outOfMemory(named("output", metadata.outputs[i].name), tensor.bytes);
    allocated.push_back(tensor);
  }
  return {};
}

/// Makes room in memory that earlier calls may still be using, and a caller's graph ever after.
Status Instance::reserve(DeviceBuffer &buffer, const std::string &what, int64_t bytes) {
  if (isCaptured)
    return refuseToWait(fmt::format("it needs more memory for {}", what),
                        "call the program once with inputs of these sizes before the capture");
  TW_TRY(device.wait(stream)); // which comes after all of them
  if (!hasBeenCaptured)
    return buffer.reserve(device, what.c_str(), bytes);
  DeviceBuffer larger;
  TW_TRY(larger.reserve(device, what.c_str(), bytes));
  if (buffer.data())
    outgrown.push_back(std::move(buffer));
  buffer = std::move(larger);
  return {};
}

/// All that comes before outputs have memory.
Status Instance::prepare(std::span<const tw_tensor> inputs) {
  bool areSizesDecided = decided.areThoseOf(inputs);
  if (!areSizesDecided) {
    decided.forget();
    TW_TRY(checkInputs(metadata, inputs, symbols));
  }
  if (!isHost)
    TW_TRY(usesHostMemory ? upload(inputs) : checkDeviceMemory(inputs, /*areInputs=*/true));
  TW_TRY(bindInputs(isHost || !usesHostMemory ? inputs : given, areSizesDecided));
  if (!areSizesDecided)
    TW_TRY(decideSizes());
  if (!arena.holds(arenaBytes))
    if (Status reserved = reserve(arena, "temporaries", arenaBytes); !reserved)
      return withLargestTemporary(std::move(reserved).error());
  auto scratch = checkedMul(workspaceBytes, pool->threads());
  if (!scratch || *scratch > planner::maxArena || !workspace.reserve(*scratch))
    return outOfMemory("the workspace of each thread", workspaceBytes);
  if (areSizesDecided)
    return {};
  TW_TRY(measureOutputs());
  TW_TRY(checkWriteBack());
  decided.note(metadata, inputs, inputSizes);
  return {};
}

/// `callers`: the inputs where the caller has them, which may be elsewhere than where they are
/// read.
Status Instance::compute(std::span<const tw_tensor> callers, std::span<const tw_tensor> wanted) {
  inputsRead = isHost || !usesHostMemory ? callers : given;
  if (!usesHostMemory)
    TW_TRY(checkDeviceMemory(wanted, /*areInputs=*/false));
  TW_TRY(bindOutputs(wanted));
  TW_TRY(isHost ? execute(TW_PHASE_RUN) : runProgram());
  return deliver(callers);
}

bool Instance::isOwnOutput(const void *data) const {
  auto address = reinterpret_cast<uintptr_t>(data);
  for (const Output &output : outputs) {
    // Within an empty buffer, whose capacity is 0, nothing lies.
    auto own = address - reinterpret_cast<uintptr_t>(output.own.data());
    auto host = address - reinterpret_cast<uintptr_t>(output.host.data());
    if (own < static_cast<uintptr_t>(output.own.capacity()) ||
        host < static_cast<uintptr_t>(output.host.capacity()))
      return true;
  }
  return false;
}

/// Whether some of an input's memory is another input's, too.
static bool sharesMemory(std::span<const tw_tensor> inputs, size_t number) {
  auto begin = [](const tw_tensor &input) { return reinterpret_cast<uintptr_t>(input.data); };
  const tw_tensor &one = inputs[number];
  for (size_t i = 0; i < inputs.size(); ++i)
    if (i != number && begin(inputs[i]) < begin(one) + one.bytes &&
        begin(one) < begin(inputs[i]) + inputs[i].bytes)
      return true;
  return false;
}

/// Where each input is read: in place, or in a copy when it is not aligned, is an output of the
/// last run, whose memory this one writes, or is written while another input has the same memory.
Status Instance::bindInputs(std::span<const tw_tensor> inputs, bool areSizesDecided) {
  bool ownsOutputs = std::any_of(outputs.begin(), outputs.end(), [](const Output &output) {
    return output.own.capacity() > 0 || output.host.capacity() > 0;
  });
  for (size_t i = 0; i < inputs.size(); ++i) {
    const tw_tensor &input = inputs[i];
    if (!areSizesDecided && !metadata.inputs[i].fixedBytes)
      std::copy_n(input.sizes, input.rank, inputSizes[i].begin());
    inputPointers[i] = input.data;
    if (!isHost && metadata.inputs[i].kind != ValueKind::Tensor) {
      std::memcpy(&scalars[i], input.data, info(metadata.inputs[i].dtype).bytes);
      inputPointers[i] = &scalars[i];
      continue;
    }
    if (input.data && isAligned(input.data) && !(ownsOutputs && isOwnOutput(input.data)) &&
        !(isWrittenInPlace[i] && sharesMemory(inputs, i)))
      continue;
    int64_t bytes = *checkedProduct(inputSizes[i]) * info(metadata.inputs[i].dtype).bytes;
    if (!inputCopies[i].holds(bytes))
      TW_TRY(reserve(inputCopies[i], named("a copy of input", metadata.inputs[i].name), bytes));
    TW_TRY(copy(Copy::Within, inputCopies[i].data(), input.data, bytes));
    inputPointers[i] = inputCopies[i].data();
  }
  return checkMutatedInputs(inputs);
}

/// What the program writes to must not be what it makes outputs in.
Status Instance::checkMutatedInputs(std::span<const tw_tensor> inputs) const {
  for (const MutatedInput &m : metadata.mutatedInputs)
    if (isOwnOutput(inputs[m.input].data))
      return Diagnostic{Code::RUNTIME_18,
                        fmt::format("input \"{}\" is written by the program, but its memory is an "
                                    "output of the last run",
                                    metadata.inputs[m.input].name),
                        {},
                        {},
                        "copy it to memory of your own first"};
  return {};
}

/// Places the temporaries, and for a dynamic program asks it for the sizes.
Status Instance::decideSizes() {
  if (metadata.isStatic) {
    arenaBytes = metadata.arenaBytes;
    arenaBound = metadata.planBoundBytes;
    workspaceBytes = metadata.workspaceBytes;
    bufferOffsets = nullptr;
    return {};
  }
  for (auto &sizes : outputSizes)
    std::fill(sizes.begin(), sizes.end(), -1);
  std::fill(bufferSizes.begin(), bufferSizes.end(), -1);
  workspaceBytes = 0;
  TW_TRY(execute(TW_PHASE_SIZES));
  if (workspaceBytes < 0 || workspaceBytes % TW_ALIGNMENT)
    return contradiction(fmt::format("the workspace has {} bytes", workspaceBytes));
  const MemoryPlan *plan = plans.plan(metadata.buffers, bufferSizes);
  if (!plan) {
    for (size_t i = 0; i < bufferSizes.size(); ++i)
      if (bufferSizes[i] < 0)
        return contradiction(fmt::format("temporary {} has {} bytes", i, bufferSizes[i]));
    return withLargestTemporary(
        {Code::RUNTIME_17, "these inputs need more temporary memory than any machine has"});
  }
  arenaBytes = plan->peak;
  arenaBound = plan->bound;
  bufferOffsets = plan->offsets.data();
  return {};
}

/// The bytes of each output; checks what the program said about sizes.
Status Instance::measureOutputs() {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueInfo &value = metadata.outputs[i];
    for (size_t d = 0; d < outputSizes[i].size(); ++d)
      if (outputSizes[i][d] < 0 ||
          outputSizes[i][d] != value.sizes[d].fixed.value_or(outputSizes[i][d]))
        return contradiction(fmt::format("output \"{}\" dimension {} is {}, not {}", value.name, d,
                                         outputSizes[i][d], value.sizes[d].text()));
    auto count = checkedProduct(outputSizes[i]);
    auto bytes = count ? checkedMul(*count, info(value.dtype).bytes) : std::nullopt;
    if (!bytes || *bytes > planner::maxArena)
      return Diagnostic{Code::RUNTIME_17, fmt::format("output \"{}\" would be {}, more than any "
                                                      "memory holds",
                                                      value.name, shapeText(outputSizes[i]))};
    outputs[i].bytes = *bytes;
  }
  return {};
}

/// A new value of an input must have its size.
Status Instance::checkWriteBack() const {
  for (const MutatedInput &m : metadata.mutatedInputs)
    if (inputSizes[m.input] != outputSizes[m.output])
      return contradiction(
          fmt::format("the new value of input \"{}\" is {}, not {}", metadata.inputs[m.input].name,
                      shapeText(outputSizes[m.output]), shapeText(inputSizes[m.input])));
  return {};
}

/// Whether the program may write to the caller's memory directly: aligned, and none of the inputs,
/// which it may still read.
static bool isDirect(const tw_tensor &output, int64_t bytes, std::span<const tw_tensor> inputs) {
  auto address = [](const void *data) { return reinterpret_cast<uintptr_t>(data); };
  for (const tw_tensor &input : inputs)
    if (address(input.data) < address(output.data) + bytes &&
        address(output.data) < address(input.data) + input.bytes)
      return false;
  return isAligned(output.data);
}

Status Instance::bindOutputs(std::span<const tw_tensor> wanted) {
  bool mayBeDirect = isHost || !usesHostMemory;
  for (Output &output : outputs)
    output.target = output.callerData = nullptr;
  for (size_t v = 0; v < wanted.size(); ++v) {
    Output &output = outputs[visible[v]];
    if (!wanted[v].data)
      continue;
    if (wanted[v].bytes < output.bytes)
      return Diagnostic{Code::RUNTIME_14,
                        fmt::format("output \"{}\" needs {} bytes, but the buffer given has {}",
                                    metadata.outputs[visible[v]].name, output.bytes,
                                    wanted[v].bytes)};
    if (mayBeDirect && !isHostScalar(visible[v]) && isDirect(wanted[v], output.bytes, inputsRead))
      output.target = wanted[v].data;
    else
      output.callerData = wanted[v].data;
  }
  for (const MutatedInput &m : metadata.mutatedInputs)
    if (m.isInPlace)
      outputs[m.output].target = const_cast<void *>(inputPointers[m.input]);
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output &output = outputs[i];
    if (!isHost)
      TW_TRY(bindHostMemory(i));
    if (!output.target) {
      if (!output.own.holds(output.bytes))
        TW_TRY(reserve(output.own, named("output", metadata.outputs[i].name), output.bytes));
      output.target = output.own.data();
    }
    outputPointers[i] = output.target;
  }
  return {};
}

/// What is left after a run: copies to the caller, new values of inputs, the results.
Status Instance::deliver(std::span<const tw_tensor> callers) {
  Copy kind = usesHostMemory ? Copy::ToHost : Copy::Within;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output &output = outputs[i];
    if (!output.callerData || output.bytes == 0)
      continue;
    if (isHostScalar(i))
      std::memcpy(output.callerData, output.target, output.bytes);
    else
      TW_TRY(copy(kind, output.callerData, output.target, output.bytes));
  }
  for (const MutatedInput &m : metadata.mutatedInputs)
    if (outputs[m.output].bytes > 0 && outputs[m.output].target != callers[m.input].data)
      TW_TRY(copy(kind, callers[m.input].data, outputs[m.output].target, outputs[m.output].bytes));
  results.clear();
  for (int i : visible) {
    const Output &output = outputs[i];
    results.push_back({output.callerData ? output.callerData : output.target, output.bytes,
                       static_cast<tw_dtype>(metadata.outputs[i].dtype),
                       static_cast<int32_t>(outputSizes[i].size()), outputSizes[i].data()});
  }
  hasResults = true;
  return {};
}

const tw_tensor *Instance::output(int32_t index) const {
  bool known = hasResults && index >= 0 && static_cast<size_t>(index) < results.size();
  return known ? &results[index] : nullptr;
}

// --- The program's side
// ----------------------------------------------------------------------------

/// `message` with its first two %lld replaced.
static std::string fillIn(std::string_view message, int64_t a, int64_t b) {
  std::string text(message);
  size_t from = 0;
  for (int64_t value : {a, b}) {
    size_t at = text.find("%lld", from);
    if (at == std::string::npos)
      break;
    std::string digits = std::to_string(value);
    text.replace(at, 4, digits);
    from = at + digits.size();
  }
  return text;
}

void Instance::parallelFor(void *self, tw_loop_body body, void *closure, int64_t count,
                           int64_t grain) {
  static_cast<Instance *>(self)->pool->parallelFor(body, closure, count, grain);
}

Diagnostic Instance::failedAssertion(std::string_view text, int64_t a, int64_t b) {
  std::string_view place;
  if (size_t at = text.rfind(TW_FAILURE_PLACE); at != text.npos) {
    place = text.substr(at + std::string_view(TW_FAILURE_PLACE).size());
    text = text.substr(0, at);
  }
  return {Code::RUNTIME_13, fillIn(text, a, b), std::string(place)};
}

void Instance::fail(void *self, const char *message, int64_t a, int64_t b) {
  if (message)
    static_cast<Instance *>(self)->failure = failedAssertion(message, a, b);
}

void Instance::note(void *self, int32_t dispatch, int32_t begin, void *const *buffers,
                    const int64_t *scalars) {
  Trace &watched = static_cast<Instance *>(self)->watched;
  if (Instance &instance = *static_cast<Instance *>(self); !instance.isHost) {
    instance.keep(instance.noteOnDevice(dispatch, begin != 0));
    return;
  }
  if (begin == 0)
    watched.note(dispatch, false);
  if (watched.observed())
    watched.observed()(dispatch, begin != 0, buffers, scalars);
  if (begin != 0)
    watched.note(dispatch, true);
}

const tw_callbacks Instance::callbacks = {
    parallelFor, fail, nullptr, launch, copyWithin, fillWith, readBytes, onHost, checkCancelled};
const tw_callbacks Instance::tracingCallbacks = {
    parallelFor, fail, note, launch, copyWithin, fillWith, readBytes, onHost, checkCancelled};

tw_call Instance::makeCall(uint32_t phase) {
  tw_call call{};
  call.abi = static_cast<uint32_t>(metadata.abi);
  call.phase = phase;
  call.runtime = this;
  call.callbacks = phase == TW_PHASE_RUN && watched.active() ? &tracingCallbacks : &callbacks;
  call.inputs = inputPointers.data();
  call.input_sizes = inputSizePointers.data();
  call.outputs = outputPointers.data();
  call.output_sizes = outputSizePointers.data();
  call.state = statePointers.data();
  call.weights = program->weights();
  call.arena = arena.data();
  call.buffer_sizes = bufferSizes.data();
  call.buffer_offsets = bufferOffsets;
  call.workspace = workspace.data();
  call.workspace_bytes = &workspaceBytes;
  call.workers = threads();
  call.failures = reinterpret_cast<int64_t *>(failureRecords.data());
  return call;
}

Status Instance::execute(uint32_t phase) {
  failure.reset();
  askedAt = 0;
  tw_call call = makeCall(phase);
  watched.beginRun();
  if (program->entry()(&call) == 0 && !(failure && !isHost))
    return {};
  if (!failure)
    return contradiction("it failed without saying why");
  return *std::exchange(failure, std::nullopt);
}

tw_memory_info Instance::memory() const {
  int64_t reserved = arena.capacity() + workspace.capacity() + failureRecords.capacity();
  for (const auto *buffers : {&state, &inputCopies, &uploads, &outgrown})
    for (const DeviceBuffer &buffer : *buffers)
      reserved += buffer.capacity();
  for (const AlignedBuffer &buffer : hostCopies)
    reserved += buffer.capacity();
  for (const Output &output : outputs)
    reserved += output.own.capacity() + output.host.capacity();
  return {arenaBytes, arenaBound, reserved};
}

} // namespace tw::rt
