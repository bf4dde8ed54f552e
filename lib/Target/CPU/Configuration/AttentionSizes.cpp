// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/AttentionSizes.h"

namespace tw::target::cpu {

constexpr int64_t unknownExtent = 512;
constexpr int64_t registerVectors = 4; // of a product whose sums lie in memory, side by side

AttentionSizes::AttentionSizes(const kernels::AttentionInputs &spec, const VectorUnit &unit)
    : queries(sizeOf(spec, spec.queries)), keys(sizeOf(spec, spec.keys)),
      depth(sizeOf(spec, spec.depth)), width(sizeOf(spec, spec.width)), lanes(unit.lanes),
      bytes(spec.sum == kernel::f64 ? 8 : 4), isCausal(spec.isCausal),
      areQueriesKnown(spec.dims[spec.queries].size.has_value()),
      areKeysKnown(spec.dims[spec.keys].size.has_value()) {}

int64_t AttentionSizes::sizeOf(const kernels::AttentionInputs &spec, int dim) {
  return spec.dims[dim].size.value_or(unknownExtent);
}

/// Blocks of six rows and four vectors, then vector by vector.
double AttentionSizes::productCycles(int64_t rows, int64_t columns, int64_t length) const {
  int64_t vectors = ceilDiv(columns, lanes), whole = columns / (registerVectors * lanes);
  double step = 2.16 * double(whole) + 0.7 * double(vectors - whole * registerVectors);
  return double(rows * length) * step;
}

} // namespace tw::target::cpu
