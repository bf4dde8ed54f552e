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

bool DecidedSizes::fits(const Input &known, const tw_tensor &input) {
  if (input.dtype != known.dtype || input.rank != static_cast<int32_t>(known.sizes.size()) ||
      input.bytes < known.bytes || (known.bytes > 0 && !input.data) ||
      (input.rank > 0 && !input.sizes))
    return false;
  for (int32_t d = 0; d < input.rank; ++d)
    if (input.sizes[d] != known.sizes[d])
      return false;
  return !known.isScalar || scalarOf(input, known.bytes) == known.scalar;
}

bool DecidedSizes::areThoseOf(std::span<const tw_tensor> inputs) const {
  if (known.empty() || inputs.size() != known.size())
    return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!fits(known[i], inputs[i]))
      return false;
  return true;
}

void DecidedSizes::note(const Metadata &metadata, std::span<const tw_tensor> inputs,
                        std::span<const std::vector<int64_t>> sizes) {
  known.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo &value = metadata.inputs[i];
    bool isScalar = value.kind != ValueKind::Tensor;
    int64_t bytes = *checkedProduct(sizes[i]) * info(value.dtype).bytes;
    known[i] = {sizes[i], bytes, inputs[i].dtype, isScalar,
                isScalar ? scalarOf(inputs[i], bytes) : 0};
  }
}

} // namespace tw::rt
