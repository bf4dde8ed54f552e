// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/GpuCode.h"
#include <charconv>

namespace tw {
namespace {

struct Architecture {
  int major = 0, minor = 0;
  bool isExact = false;
};

std::optional<Architecture> parse(std::string_view text) {
  int number = 0;
  if (!text.starts_with("sm_"))
    return std::nullopt;
  auto [end, error] = std::from_chars(text.data() + 3, text.data() + text.size(), number);
  std::string_view suffix(end, size_t(text.data() + text.size() - end));
  if (error != std::errc() || number < 10 || suffix.size() > 1)
    return std::nullopt;
  return Architecture{number / 10, number % 10, !suffix.empty()};
}

} // namespace

bool runsOnGpu(std::string_view code, std::string_view gpu) {
  auto wanted = parse(code), own = parse(gpu);
  return wanted && own && wanted->major == own->major &&
         (wanted->isExact ? wanted->minor == own->minor : wanted->minor <= own->minor);
}

std::optional<std::string> targetForGpu(std::string_view gpu) {
  for (std::string_view code : gpuCode)
    if (runsOnGpu(code, gpu))
      return "nvidia:" + std::string(code);
  return std::nullopt;
}

} // namespace tw
