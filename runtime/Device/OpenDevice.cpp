// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device/CudaDevice.h"
#include <charconv>
#include <fmt/format.h>

namespace tw::rt {

/// The number in "cuda" or "cuda:N"; -1 when the text is something else.
static int cudaOrdinal(std::string_view name) {
  if (name == "cuda")
    return 0;
  int ordinal = -1;
  if (!name.starts_with("cuda:"))
    return -1;
  std::string_view digits = name.substr(5);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  return error == std::errc() && end == digits.data() + digits.size() ? ordinal : -1;
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
