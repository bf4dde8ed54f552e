// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls on a device whose memory is not the host's (docs/devices.md): streams, uploads, failure
// records, and dispatches on the host. What the program's entry enqueues: InstanceWork.cpp.
#include "Support/Checked.h"
#include "runtime/Instance/Instance.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tw::rt {

static constexpr size_t recordWords = 3;

/// Creates the stream, the event and the failure records.
Status Instance::initializeDevice() {
  TW_ASSIGN(ownStream, device.createStream());
  TW_ASSIGN(lastCall, device.createEvent(/*timed=*/false));
  uploads.resize(metadata.inputs.size());
  scalars.resize(metadata.inputs.size());
  readRecords.resize(metadata.device->failures.size() * recordWords);
  auto bytes = static_cast<int64_t>(readRecords.size() * sizeof(int64_t));
  if (bytes == 0)
    return {};
  TW_TRY(failureRecords.reserve(device, "failure records", bytes));
  return device.fill(failureRecords.data(), 0, 1, bytes, ownStream);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// A call on `stream`, after the last one, whatever stream that was on.
Status Instance::callInOrder(std::span<const tw_tensor> inputs, const Wanted &wanted) {
  times.clear();
  isCaptured = false;
  TW_TRY(device.waitFor(stream, lastCall));
  Status called = call(inputs, wanted);
  Status recorded = device.record(lastCall, stream); // of what failed halfway, too
  TW_TRY(std::move(called));
  TW_TRY(std::move(recorded));
  return times.empty() ? Status() : giveTimes();
}

/// A call whose work becomes part of a graph of the caller's. What is enqueued elsewhere is not in
/// its order, and waiting or allocating memory would break it.
Status Instance::callCaptured(std::span<const tw_tensor> inputs, const Wanted &wanted) {
  isCaptured = hasBeenCaptured = true;
  if (watched.active())
    return refuseToWait("dispatches are traced", "end the trace first");
  return call(inputs, wanted);
}

/// What cannot be done while the stream is captured.
Diagnostic Instance::refuseToWait(std::string_view why, std::string_view help) const {
  return {Code::RUNTIME_18,
          fmt::format("tw_instance_enqueue: the stream is being captured, but the call has to wait "
                      "for {}: {}",
                      device.name(), why),
          {},
          {},
          std::string(help)};
}

/// Waits, and tells who traces.
Status Instance::giveTimes() {
  TW_TRY(device.wait(stream));
  dispatchesNs.resize(metadata.dispatches.size());
  return times.give([&](int32_t dispatch, int64_t begin, int64_t end) {
    dispatchesNs[dispatch] = std::max<int64_t>(1, end - begin);
    watched.tell(dispatch, begin, end);
  });
}

/// Waits for all calls.
Status Instance::settle() {
  if (device.isHost())
    return {};
  TW_TRY(device.waitFor(ownStream, lastCall));
  return device.wait(ownStream);
}

Status Instance::enqueue(Stream callers, std::span<const tw_tensor> inputs, const Wanted &wanted) {
  Use use(*this, wanted.allocate ? "tw_instance_enqueue_allocating" : "tw_instance_enqueue");
  TW_TRY(use.check());
  if (device.isHost())
    return Diagnostic{
        Code::RUNTIME_18,
        "tw_instance_enqueue: the instance runs on the CPU, where nothing is enqueued",
        {},
        {},
        "call tw_instance_run, or load the program on a GPU"};
  TW_TRY(device.checkStream(callers));
  usesHostMemory = false;
  stream = callers;
  TW_ASSIGN(bool captured, device.isCaptured(callers));
  return captured ? callCaptured(inputs, wanted) : callInOrder(inputs, wanted);
}

Status Instance::wait() {
  Use use(*this, "tw_instance_wait");
  TW_TRY(use.check());
  if (device.isHost())
    return {};
  TW_TRY(device.waitFor(ownStream, lastCall));
  return findFailures(ownStream);
}

//===----------------------------------------------------------------------===//
// The caller's memory
//===----------------------------------------------------------------------===//

Status Instance::checkDeviceMemory(std::span<const tw_tensor> tensors, bool areInputs) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ValueInfo &value = areInputs ? metadata.inputs[i] : metadata.outputs[visible[i]];
    if (value.kind != ValueKind::Tensor || !tensors[i].data || tensors[i].bytes == 0)
      continue;
    TW_TRY(device.checkMemory(areInputs ? "input" : "output", value.name, tensors[i].data));
  }
  return {};
}

/// Copies the inputs to the device; scalars stay.
Status Instance::upload(std::span<const tw_tensor> inputs) {
  TW_TRY(checkMutatedInputs(inputs));
  given.assign(inputs.begin(), inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo &value = metadata.inputs[i];
    if (value.kind != ValueKind::Tensor)
      continue;
    int64_t bytes = *checkedProduct({inputs[i].sizes, static_cast<size_t>(inputs[i].rank)}) *
                    info(value.dtype).bytes;
    if (!uploads[i].holds(bytes))
      TW_TRY(reserve(uploads[i], fmt::format("input \"{}\"", value.name), bytes));
    TW_TRY(device.copy(Copy::ToDevice, uploads[i].data(), inputs[i].data, bytes, stream));
    given[i].data = uploads[i].data();
    given[i].bytes = bytes;
  }
  return {};
}

/// Where an output is on the host: a scalar is made there, another one goes there in the end if the
/// call is one with host memory.
Status Instance::bindHostMemory(size_t number) {
  Output &output = outputs[number];
  bool isScalar = isHostScalar(number);
  bool isDelivered =
      usesHostMemory && !isScalar && !metadata.outputs[number].hidden && !output.callerData;
  if (!isScalar && !isDelivered)
    return {};
  if (!output.host.reserve(output.bytes))
    return Diagnostic{Code::RUNTIME_17,
                      fmt::format("there is not enough memory for output \"{}\": {} bytes",
                                  metadata.outputs[number].name, output.bytes)};
  (isScalar ? output.target : output.callerData) = output.host.data();
  return {};
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

Diagnostic Instance::kernelFailure(size_t record, const int64_t values[recordWords]) const {
  const auto &records = metadata.device->failures;
  size_t count = record < records.size() ? records[record].size() : 0;
  if (values[0] < 1 || values[0] > static_cast<int64_t>(count))
    return {Code::RUNTIME_19,
            fmt::format("the program contradicts its metadata: failure record {} says {}, but has "
                        "{} messages",
                        record, values[0], count),
            {},
            {},
            "compile the model again"};
  return failedAssertion(records[record][size_t(values[0]) - 1], values[1], values[2]);
}

/// Waits for the stream; the first failure of a kernel since the last time, which is then
/// forgotten.
Status Instance::findFailures(Stream stream) {
  auto bytes = static_cast<int64_t>(readRecords.size() * sizeof(int64_t));
  if (bytes == 0)
    return device.wait(stream);
  TW_TRY(device.copy(Copy::ToHost, readRecords.data(), failureRecords.data(), bytes, stream));
  TW_TRY(device.wait(stream));
  for (size_t record = 0; record * recordWords < readRecords.size(); ++record) {
    const int64_t *values = &readRecords[record * recordWords];
    if (values[0] == 0)
      continue;
    hasResults = false;
    Diagnostic failure = kernelFailure(record, values);
    TW_TRY(device.fill(failureRecords.data(), 0, 1, bytes, stream));
    TW_TRY(device.wait(stream));
    return failure;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Dispatches on the host
//===----------------------------------------------------------------------===//

/// Where buffer `number` of a dispatch is on the host already: weights are mapped, and buffers of
/// one address share the memory of the first. Null: nowhere.
void *Instance::hostMemoryOf(const tw_host_dispatch &dispatch, int32_t number,
                             std::span<void *const> before) const {
  auto *address = static_cast<const uint8_t *>(dispatch.buffers[number]);
  const uint8_t *weights = program->weights();
  bool isInput = number < dispatch.buffer_count - dispatch.result_count;
  if (isInput && weights && address >= weights && address < weights + metadata.weights.bytes)
    return const_cast<uint8_t *>(program->hostWeights() + (address - weights));
  for (int32_t i = 0; i < number; ++i)
    if (dispatch.buffers[i] == address && dispatch.bytes[i] >= dispatch.bytes[number])
      return before[i];
  return nullptr;
}

/// A dispatch between copies. All its results are copied back: what an update in place leaves as it
/// was has come with the input.
Status Instance::runOnHost(const tw_host_dispatch &dispatch) {
  auto count = static_cast<size_t>(dispatch.buffer_count);
  int32_t inputs = dispatch.buffer_count - dispatch.result_count;
  hostCopies.resize(std::max(hostCopies.size(), count));
  TW_TRY(device.wait(stream)); // copies of an earlier one may still be read
  std::vector<void *> buffers(count + 1);
  for (int32_t i = 0; i < dispatch.buffer_count; ++i) {
    buffers[i] = hostMemoryOf(dispatch, i, buffers);
    if (buffers[i])
      continue;
    if (!hostCopies[i].reserve(dispatch.bytes[i]))
      return Diagnostic{Code::RUNTIME_17,
                        fmt::format("there is not enough memory for a copy of a tensor: {} bytes",
                                    dispatch.bytes[i])};
    buffers[i] = hostCopies[i].data();
    if (i < inputs)
      TW_TRY(device.copy(Copy::ToHost, buffers[i], dispatch.buffers[i], dispatch.bytes[i], stream));
  }
  TW_TRY(findFailures(stream));
  int64_t record[recordWords] = {};
  buffers[count] = record;
  auto scratch = checkedMul(dispatch.workspace_bytes, pool->threads());
  if (!scratch || !workspace.reserve(*scratch))
    return Diagnostic{Code::RUNTIME_17,
                      fmt::format("there is not enough memory for the workspace of each thread: {} "
                                  "bytes",
                                  dispatch.workspace_bytes)};
  if (dispatch.fill)
    dispatch.fill(buffers.data(), dispatch.scalars);
  struct Closure {
    const tw_host_dispatch &dispatch;
    void **buffers;
    uint8_t *workspace;
  } closure{dispatch, buffers.data(), workspace.data()};
  auto body = [](void *data, int64_t begin, int64_t end, int64_t worker) {
    auto &c = *static_cast<Closure *>(data);
    c.dispatch.kernel(c.buffers, c.dispatch.scalars,
                      c.workspace + worker * c.dispatch.workspace_bytes, begin, end);
  };
  pool->parallelFor(body, &closure, dispatch.iterations, dispatch.grain);
  if (record[0] != 0 && dispatch.failure >= 0)
    return kernelFailure(size_t(dispatch.failure), record);
  for (int32_t i = inputs; i < dispatch.buffer_count; ++i)
    TW_TRY(device.copy(Copy::ToDevice, const_cast<void *>(dispatch.buffers[i]), buffers[i],
                       dispatch.bytes[i], stream));
  return {};
}

} // namespace tw::rt
