// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/SplitGradients.h"

namespace tw::conversion {

bool canSplitGradients(const AttentionGradient &gradient) {
  return gradient.hasQueries() && gradient.hasKeys();
}

/// With the tensors of the buffers that are left.
static void tidyGradient(Subkernel &subkernel) {
  auto &gradient = std::get<AttentionGradient>(subkernel.what);
  std::vector<TensorUse> tensors;
  for (int former : dropUnusedBuffers(gradient))
    tensors.push_back(subkernel.tensors[former]);
  subkernel.tensors = std::move(tensors);
  dropUnusedDims(gradient);
}

std::vector<Subkernel> splitGradients(const Subkernel &subkernel) {
  Subkernel ofQueries = subkernel, ofKeys = subkernel;
  auto &queries = std::get<AttentionGradient>(ofQueries.what);
  queries.keyGradient.reset();
  queries.valueGradient.reset();
  std::get<AttentionGradient>(ofKeys.what).queryGradient.reset();
  tidyGradient(ofQueries);
  tidyGradient(ofKeys);
  return {ofQueries, ofKeys};
}

} // namespace tw::conversion
