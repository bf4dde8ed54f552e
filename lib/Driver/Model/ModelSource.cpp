// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/ModelSource.h"

namespace tw {

MemoryProgram memoryProgram(const tilewright_memory_model &model) {
  MemoryProgram program{model.name, {model.json, model.json_bytes}, {}};
  for (size_t i = 0; i < model.weight_count; ++i) {
    const tilewright_weight &weight = model.weights[i];
    size_t bytes = weight.data && weight.bytes > 0 ? static_cast<size_t>(weight.bytes) : 0;
    program.weights.push_back({weight.name ? weight.name : "",
                               {static_cast<const std::byte *>(weight.data), bytes},
                               weight.is_given_by_calls != 0});
  }
  return program;
}

} // namespace tw
