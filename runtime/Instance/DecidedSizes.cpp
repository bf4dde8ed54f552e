// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Instance/DecidedSizes.h"
#include "Support/Checked.h"
#include <algorithm>
#include <cstring>

namespace tw::rt {

static uint64_t scalarOf(const tw_tensor &input, int64_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, input.data, std::min<size_t>(bytes, sizeof value));
  return value;
}

bool DecidedSizes::fits(const Input &known, const int64_t *sizes, const tw_tensor &input) {
  if (input.dtype != known.dtype || input.rank != known.rank || input.bytes < known.bytes ||
      (known.bytes > 0 && !input.data) || (input.rank > 0 && !input.sizes))
    return false;
  for (int32_t d = 0; d < input.rank; ++d)
    if (input.sizes[d] != sizes[d])
      return false;
  return !known.isScalar || scalarOf(input, known.bytes) == known.scalar;
}

bool DecidedSizes::areThoseOf(std::span<const tw_tensor> inputs) const {
  if (!isKnown || inputs.size() != known.size())
    return false;
  const int64_t *sizes = allSizes.data();
  for (size_t i = 0; i < inputs.size(); sizes += known[i++].rank)
    if (!fits(known[i], sizes, inputs[i]))
      return false;
  return true;
}

void DecidedSizes::note(const Metadata &metadata, std::span<const tw_tensor> inputs,
                        std::span<const std::vector<int64_t>> sizes) {
  isKnown = true;
  known.resize(inputs.size());
  allSizes.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo &value = metadata.inputs[i];
    // Nothing in a static program depends on a scalar but what is checked of a symbol.
    bool isScalar = value.kind != ValueKind::Tensor && (!metadata.isStatic || value.symbol);
    int64_t bytes = *checkedProduct(sizes[i]) * info(value.dtype).bytes;
    known[i] = {bytes, isScalar ? scalarOf(inputs[i], bytes) : 0, inputs[i].dtype,
                static_cast<int32_t>(sizes[i].size()), isScalar};
    allSizes.insert(allSizes.end(), sizes[i].begin(), sizes[i].end());
  }
}

} // namespace tw::rt
