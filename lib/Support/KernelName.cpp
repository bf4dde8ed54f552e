// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/KernelName.h"
#include <algorithm>

namespace tw {

std::optional<std::string> kernelFor(std::string_view callee, const KernelNames &kernels) {
  std::string name(callee);
  std::replace(name.begin(), name.end(), '.', '_');
  if (kernels.contains(name))
    return name;
  size_t dot = callee.find('.');
  if (dot != std::string_view::npos)
    name.erase(0, dot + 1);
  return kernels.contains(name) ? std::optional(name) : std::nullopt;
}

} // namespace tw
