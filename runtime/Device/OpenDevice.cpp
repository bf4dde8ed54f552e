// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/CudaDevice.h"
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace tw::rt {

/// The number in "cuda" or "cuda:N", the largest one for one that is larger; -1 when the text is
/// something else.
static int cudaOrdinal(std::string_view name) {
  if (name == "cuda")
    return 0;
  int ordinal = -1;
  if (!name.starts_with("cuda:"))
    return -1;
  std::string_view digits = name.substr(5);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
    return -1;
  bool isTooLarge = error == std::errc::result_out_of_range && digits.front() != '-';
  return isTooLarge ? std::numeric_limits<int>::max() : ordinal;
}

Result<std::shared_ptr<Device>> openDevice(std::string_view name) {
  if (name == "cpu")
    return std::shared_ptr<Device>(std::shared_ptr<void>(), &hostDevice());
  if (int ordinal = cudaOrdinal(name); ordinal >= 0)
    return CudaDevice::open(name, ordinal);
  return Diagnostic{Code::RUNTIME_8,
                    fmt::format("there is no device \"{}\"", name),
                    {},
                    {},
                    "the devices are cpu, cuda (the first GPU) and cuda:N"};
}

} // namespace tw::rt
