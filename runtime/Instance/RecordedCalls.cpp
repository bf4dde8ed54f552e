// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Instance/RecordedCalls.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::rt {

RecordedCalls::~RecordedCalls() {
  if (retired.empty())
    return;
  EnteredDevice entered(device);
  for (Retired &old : retired)
    if (entered.status)
      device.destroyEvent(old.done);
}

size_t RecordedCalls::graphs() const {
  return static_cast<size_t>(std::ranges::count_if(
      recent, [](const RecordedCall &call) { return call.graph != nullptr; }));
}

RecordedCall *RecordedCalls::find(const CallValues &called) {
  RecordedCall *hopeful = nullptr, *refused = nullptr;
  for (auto call = recent.begin(); call != recent.end(); ++call) {
    if (call->called.sizes != called.sizes)
      continue;
    if (call->graph && call->called.values == called.values) {
      recent.splice(recent.begin(), recent, call);
      return &recent.front();
    }
    RecordedCall *&first = call->refused.empty() ? hopeful : refused;
    first = first ? first : &*call;
  }
  return hopeful ? hopeful : refused;
}

/// A call of this form, or else what may become one: nobody knows what form work had that was not
/// collected.
RecordedCalls::Entry RecordedCalls::findForm(const CallValues &called, const WorkList &work) {
  auto unknown = recent.end();
  for (auto call = recent.begin(); call != recent.end(); ++call) {
    if (call->called.sizes != called.sizes)
      continue;
    if (call->work.size() > 0 && work.hasFormOf(call->work))
      return call;
    if (call->work.size() == 0 && call->refused.empty() && unknown == recent.end())
      unknown = call;
  }
  return unknown;
}

/// Of a graph that may be running. In the order of `stream` its last launch lies before.
Status RecordedCalls::retire(std::unique_ptr<DeviceGraph> graph, Stream stream) {
  if (!graph)
    return {};
  std::vector<Retired> running;
  for (Retired &old : retired) {
    TW_ASSIGN(bool happened, device.hasHappened(old.done));
    if (happened)
      device.destroyEvent(old.done);
    else
      running.push_back(std::move(old));
  }
  retired = std::move(running);
  TW_ASSIGN(Event done, device.createEvent(/*timed=*/false));
  retired.push_back({std::move(graph), done});
  return device.record(done, stream);
}

/// In the place of the one that was not used for longest.
Result<RecordedCall *> RecordedCalls::add(const CallValues &called, Stream stream) {
  if (recent.size() == most) {
    std::unique_ptr<DeviceGraph> old = std::move(recent.back().graph);
    recent.pop_back();
    TW_TRY(retire(std::move(old), stream));
  }
  recent.emplace_front().called = called;
  return &recent.front();
}

Result<std::string> RecordedCalls::note(const CallValues &called, std::string refused,
                                        Stream stream) {
  RecordedCall *known = find(called);
  if (!known) {
    TW_ASSIGN(known, add(called, stream));
  }
  if (refused.empty())
    return std::string("these sizes came for the first time");
  if (!known->graph) // which is of calls that take another way
    known->refused = refused;
  return refused;
}

/// From now on calls like this one go without a graph.
Result<std::string> RecordedCalls::giveUp(RecordedCall &call, std::string why, Stream stream) {
  call.refused = std::move(why);
  TW_TRY(call.work.enqueue(device, stream));
  TW_TRY(retire(std::move(call.graph), stream));
  return call.refused;
}

Result<std::string> RecordedCalls::repeat(RecordedCall &known, Stream stream) {
  if (Status launched = known.graph->launch(stream); !launched)
    return giveUp(known, std::move(launched).error().message, stream);
  return std::string();
}

/// Gives `call` a graph of `work`, changed from the one that it has.
Status RecordedCalls::makeOrChange(RecordedCall &call, const WorkList &work) {
  if (!call.graph) {
    TW_ASSIGN(call.graph, device.makeGraph(work));
    ++madeCount;
    return {};
  }
  for (size_t i = 0; i < work.size(); ++i)
    if (!work.isSame(i, call.work)) {
      TW_TRY(call.graph->change(work, i));
      ++changedCount;
    }
  return {};
}

Result<std::string> RecordedCalls::enqueue(const CallValues &called,
                                           std::span<const uint64_t> scalarResults, WorkList &work,
                                           Stream stream) {
  Entry entry = findForm(called, work);
  if (entry == recent.end()) {
    TW_TRY(work.enqueue(device, stream));
    TW_ASSIGN(RecordedCall * fresh, add(called, stream));
    std::swap(fresh->work, work);
    return std::string("with these sizes this sequence of kernels came for the first time");
  }
  recent.splice(recent.begin(), recent, entry);
  RecordedCall &call = recent.front();
  bool isWorthIt = work.size() >= leastWork;
  Status ready = isWorthIt && call.refused.empty() ? makeOrChange(call, work) : Status();
  std::swap(call.work, work);
  call.called = called;
  call.scalarResults.assign(scalarResults.begin(), scalarResults.end());
  if (!isWorthIt)
    return giveUp(
        call,
        fmt::format("a call has {} pieces of work, and for fewer than {} a graph is no gain",
                    call.work.size(), leastWork),
        stream);
  if (!ready)
    return giveUp(call, std::move(ready).error().message, stream);
  return call.refused.empty() ? repeat(call, stream) : giveUp(call, call.refused, stream);
}

} // namespace tw::rt
