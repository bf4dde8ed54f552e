// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last calls of an instance on a GPU as graphs, by sizes and form (docs/devices.md, "Calls as
// CUDA graphs"): which of them a call is, what is changed in it, and when it is made.
#pragma once
#include "runtime/Device/WorkList.h"
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw::rt {

/// All that a program's entry reads on the host in one call.
struct CallValues {
  std::vector<int64_t> sizes;   // of inputs
  std::vector<uint64_t> values; // scalar inputs, and addresses
};

struct RecordedCall {
  CallValues called; // by the last call
  std::vector<uint64_t> scalarResults;
  WorkList work;                      // what the graph does, or would; may not be known yet
  std::unique_ptr<DeviceGraph> graph; // none: it came once, or is refused
  std::string refused;                // why there will be none
};

class RecordedCalls {
public:
  static constexpr size_t most = 16;
  /// For less a graph is no gain.
  static constexpr size_t leastWork = 4;

  explicit RecordedCalls(Device &device) : device(device) {}
  ~RecordedCalls();
  RecordedCalls(const RecordedCalls &) = delete;
  RecordedCalls &operator=(const RecordedCalls &) = delete;

  /// A graph with the same values, else a call of these sizes that may become one or has one, else
  /// one that was refused; null: the sizes are new.
  RecordedCall *find(const CallValues &called);

  // What follows is enqueued on `stream`, which comes after all earlier calls. It returns why that
  // was not done by a graph; empty: it was.

  /// A call that is the same as `known`, which has a graph.
  Result<std::string> repeat(RecordedCall &known, Stream stream);
  /// A call of sizes that are known, whose work is `work`; what is in it afterwards is unspecified.
  Result<std::string> enqueue(const CallValues &called, std::span<const uint64_t> scalarResults,
                              WorkList &work, Stream stream);
  /// A call that has been enqueued without a list; `refused`: why one of these sizes cannot be.
  Result<std::string> note(const CallValues &called, std::string refused, Stream stream);

  size_t graphs() const;
  int64_t made() const { return madeCount; }
  int64_t changed() const { return changedCount; }

private:
  using Entry = std::list<RecordedCall>::iterator;
  struct Retired {
    std::unique_ptr<DeviceGraph> graph;
    Event done;
  };
  Entry findForm(const CallValues &called, const WorkList &work);
  Result<RecordedCall *> add(const CallValues &called, Stream stream);
  Status makeOrChange(RecordedCall &call, const WorkList &work);
  Result<std::string> giveUp(RecordedCall &call, std::string why, Stream stream);
  Status retire(std::unique_ptr<DeviceGraph> graph, Stream stream);

  Device &device;
  std::list<RecordedCall> recent; // the last used first
  std::vector<Retired> retired;   // may still be running
  int64_t madeCount = 0, changedCount = 0;
};

} // namespace tw::rt
