// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/HostTensor.h"
#include "Support/Checked.h"
#include <cstring>
#include <fmt/format.h>

namespace tw {

static constexpr size_t alignment = 64;

std::optional<int64_t> byteCount(DType dtype, std::span<const int64_t> sizes) {
  auto count = checkedProduct(sizes);
  return count ? checkedMul(*count, info(dtype).bytes) : std::nullopt;
}

std::string typeText(DType dtype, std::span<const int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += fmt::format("{}x", size);
  return text += info(dtype).name;
}

Result<HostTensor> HostTensor::create(DType dtype, std::vector<int64_t> sizes) {
  auto count = checkedProduct(sizes);
  auto bytes = byteCount(dtype, sizes);
  if (!bytes)
    return Diagnostic{Code::IO_3, fmt::format("{} is not a possible tensor: its number of bytes "
                                              "does not fit 63 bits",
                                              tw::typeText(dtype, sizes))};
  size_t rounded = (static_cast<size_t>(*bytes) + alignment) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, rounded);
  if (!memory)
    return Diagnostic{Code::IO_3, fmt::format("not enough memory for {} ({} bytes)",
                                              tw::typeText(dtype, sizes), *bytes)};
  std::memset(memory, 0, *bytes);
  HostTensor result;
  result.type = dtype;
  result.shape = std::move(sizes);
  result.elements = *count;
  result.data.reset(static_cast<std::byte *>(memory));
  return result;
}

std::string HostTensor::typeText() const { return tw::typeText(type, shape); }

} // namespace tw
