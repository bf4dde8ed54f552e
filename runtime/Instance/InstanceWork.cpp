// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program's entry enqueues on a device: piece by piece, or collected for a graph
// (docs/devices.md, "Calls as CUDA graphs").
#include "Support/Cancellation.h"
#include "runtime/Instance/Instance.h"
#include "runtime/Nanoseconds.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace tw::rt {

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

/// Why the current call is no graph, whatever its sizes are; empty: it may be one.
std::string_view Instance::whyNoGraph() const {
  if (!noGraphs.empty())
    return noGraphs;
  if (isCaptured)
    return "the caller captures the stream";
  return watched.active() ? "dispatches are traced" : "";
}

/// What phase RUN of the entry reads on the host. Temporaries lie where sizes and scalars say.
void Instance::describeCall() {
  called.sizes.clear();
  called.values.clear();
  auto add = [&](const void *address) {
    called.values.push_back(reinterpret_cast<uintptr_t>(address));
  };
  for (size_t i = 0; i < metadata.inputs.size(); ++i) {
    if (metadata.inputs[i].kind != ValueKind::Tensor) {
      called.values.push_back(scalars[i]);
      continue;
    }
    add(inputPointers[i]);
    if (!metadata.inputs[i].fixedBytes)
      called.sizes.insert(called.sizes.end(), inputSizes[i].begin(), inputSizes[i].end());
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!isHostScalar(i))
      add(outputPointers[i]);
  add(arena.data());
}

/// Phase RUN: as a graph where one of the calls before was like this one.
Status Instance::runProgram() {
  waited = nullptr;
  ++graphInfo.calls;
  describeCall();
  std::string why(whyNoGraph());
  RecordedCall *known = why.empty() ? recorded.find(called) : nullptr;
  if (known && known->graph && known->called.values == called.values) {
    size_t next = 0;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (isHostScalar(i))
        std::memcpy(outputs[i].target, &known->scalarResults[next++], outputs[i].bytes);
    TW_ASSIGN(whyOneByOne, recorded.repeat(*known, stream));
    graphInfo.graph_calls += whyOneByOne.empty();
    return {};
  }
  ++graphInfo.entries;
  if (known)
    why = known->refused;
  collected.clear();
  isCollecting = known && why.empty();
  Status ran = execute(TW_PHASE_RUN);
  bool isCollected = std::exchange(isCollecting, false);
  TW_TRY(std::move(ran));
  if (isCollected) {
    scalarResults.clear();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (isHostScalar(i))
        std::memcpy(&scalarResults.emplace_back(), outputs[i].target, outputs[i].bytes);
    TW_ASSIGN(why, recorded.enqueue(called, scalarResults, collected, stream));
  } else if (why.empty()) {
    TW_ASSIGN(why, recorded.note(called, waited ? waited : "", stream));
  }
  graphInfo.graph_calls += why.empty();
  whyOneByOne = std::move(why);
  return {};
}

tw_graph_info Instance::graphs() const {
  tw_graph_info info = graphInfo;
  info.graphs = static_cast<int32_t>(recorded.graphs());
  info.graphs_made = recorded.made();
  info.changes = recorded.changed();
  info.reason = whyOneByOne.c_str();
  return info;
}

/// Before the entry waits for the device: all that it has asked for is enqueued.
Status Instance::waitInCall(const char *why) {
  if (isCaptured)
    return refuseToWait(why, "call the program outside of the capture");
  waited = why;
  return std::exchange(isCollecting, false) ? collected.enqueue(device, stream) : Status();
}

//===----------------------------------------------------------------------===//
// What the entry calls
//===----------------------------------------------------------------------===//

/// The first error of a call stays.
int32_t Instance::keep(Status status) {
  if (status)
    return 0;
  if (!failure)
    failure = std::move(status).error();
  return 1;
}

int32_t Instance::launch(void *self, int32_t kernel, const tw_launch *launch) {
  auto &instance = *static_cast<Instance *>(self);
  std::span<const Kernel> kernels = instance.program->kernels();
  if (kernel < 0 || static_cast<size_t>(kernel) >= kernels.size())
    return instance.keep(
        Diagnostic{Code::RUNTIME_19, fmt::format("the program launches kernel {}, but has {}",
                                                 kernel, kernels.size())});
  for (uint32_t size : launch->grid)
    if (size == 0)
      return 0; // no programs
  if (instance.isCollecting)
    return instance.collected.addLaunch(kernels[kernel], *launch), 0;
  return instance.keep(instance.device.launch(kernels[kernel], *launch, instance.stream));
}

int32_t Instance::copyWithin(void *self, void *to, const void *from, int64_t bytes) {
  auto &instance = *static_cast<Instance *>(self);
  if (instance.isCollecting)
    return instance.collected.addCopy(to, from, bytes), 0;
  return instance.keep(instance.device.copy(Copy::Within, to, from, bytes, instance.stream));
}

int32_t Instance::fillWith(void *self, void *to, uint32_t pattern, int32_t bytes, int64_t count) {
  auto &instance = *static_cast<Instance *>(self);
  if (instance.isCollecting)
    return instance.collected.addFill(to, pattern, bytes, count), 0;
  return instance.keep(instance.device.fill(to, pattern, bytes, count, instance.stream));
}

/// Asks the caller, but not before every dispatch or in every trip of a short loop.
int32_t Instance::checkCancelled(void *self) {
  constexpr int64_t interval = 50'000'000; // ns
  auto &instance = *static_cast<Instance *>(self);
  if (!instance.isCancelled)
    return 0;
  int64_t now = coarseNanoseconds();
  bool isDue = instance.askedAt && now - instance.askedAt >= interval;
  if (isDue || !instance.askedAt)
    instance.askedAt = now;
  if (!isDue || !instance.isCancelled(instance.cancelUser))
    return 0;
  return instance.keep(Cancellation::error());
}

int32_t Instance::readBytes(void *self, void *to, const void *from, int64_t bytes) {
  auto &instance = *static_cast<Instance *>(self);
  if (checkCancelled(self)) // the flag of a loop may be what is read
    return 1;
  Status read = instance.waitInCall("the host reads a value that the program has computed");
  if (read)
    read = instance.device.copy(Copy::ToHost, to, from, bytes, instance.stream);
  return instance.keep(read ? instance.findFailures(instance.stream) : std::move(read));
}

int32_t Instance::onHost(void *self, const tw_host_dispatch *dispatch) {
  auto &instance = *static_cast<Instance *>(self);
  Status ready = instance.waitInCall("a dispatch runs on the host");
  return instance.keep(ready ? instance.runOnHost(*dispatch) : std::move(ready));
}

} // namespace tw::rt
