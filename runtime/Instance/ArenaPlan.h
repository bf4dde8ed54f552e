// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places a dynamic program's temporaries when their sizes change, and remembers the last plans:
// a served model sees the same few sizes again and again.
#pragma once
#include "runtime/Artifact/Metadata.h"
#include "runtime/Planner.h"
#include <cstdint>
#include <list>
#include <span>
#include <vector>

namespace tw::rt {

class ArenaPlanCache {
public:
  /// The plan for buffers of these sizes; nullptr when they are negative or beyond any memory. It
  /// is valid until the next call.
  const MemoryPlan *plan(std::span<const BufferInfo> buffers, std::span<const int64_t> sizes);

private:
  struct Entry {
    std::vector<int64_t> sizes;
    MemoryPlan plan;
  };
  std::list<Entry> recent; // the last used first
};

} // namespace tw::rt
