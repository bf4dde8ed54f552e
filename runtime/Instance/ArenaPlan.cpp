// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Instance/ArenaPlan.h"
#include <algorithm>

namespace tw::rt {

const MemoryPlan *ArenaPlanCache::plan(std::span<const BufferInfo> buffers,
                                       std::span<const int64_t> sizes) {
  constexpr size_t remembered = 16;
  for (auto entry = recent.begin(); entry != recent.end(); ++entry) {
    if (!std::equal(sizes.begin(), sizes.end(), entry->sizes.begin(), entry->sizes.end()))
      continue;
    recent.splice(recent.begin(), recent, entry);
    return &recent.front().plan;
  }
  std::vector<PlanBuffer> planned;
  for (size_t i = 0; i < buffers.size(); ++i)
    planned.push_back({buffers[i].begin, buffers[i].end, sizes[i]});
  auto plan = planMemory(planned);
  if (!plan)
    return nullptr;
  if (recent.size() == remembered)
    recent.pop_back();
  recent.push_front({{sizes.begin(), sizes.end()}, *std::move(plan)});
  return &recent.front().plan;
}

} // namespace tw::rt
