// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/AttentionCost.h"
#include <algorithm>

namespace tw::target::cpu {
namespace {

constexpr int64_t unknownExtent = 512;

int64_t sizeOf(const Attention &attention, int dim) {
  return attention.dims[dim].size.value_or(unknownExtent);
}

} // namespace

AttentionConfiguration chooseAttention(const Attention &attention, const VectorUnit &) {
  AttentionConfiguration configuration;
  configuration.queries = std::min<int64_t>(sizeOf(attention, attention.queries), 128);
  configuration.keys = std::min<int64_t>(sizeOf(attention, attention.keys), 128);
  return configuration;
}

double attentionCost(const Attention &, const AttentionConfiguration &, const VectorUnit &) {
  return 0;
}

} // namespace tw::target::cpu
