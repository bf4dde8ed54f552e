// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/TransformedWeights.h"

namespace tw::conversion {

Subkernel materializeTransformedWeights(Subkernel &subkernel, int temporary, int64_t columns) {
  auto &convolution = std::get<Convolution>(subkernel.what);
  TensorUse plain = subkernel.tensors[convolution.w], transformed{{}, {}, temporary};
  subkernel.tensors[convolution.w] = transformed;
  return {
      kernels::transformWeights(convolution, columns), {plain, transformed}, subkernel.locations};
}

} // namespace tw::conversion
