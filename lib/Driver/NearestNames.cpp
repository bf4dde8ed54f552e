// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/NearestNames.h"
#include "llvm/ADT/STLExtras.h"
#include <fmt/format.h>

namespace tw {

std::string nearestNames(llvm::StringRef wanted, std::vector<std::string> names) {
  constexpr size_t most = 3;
  size_t count = names.size();
  auto distance = [&](const std::string &name) {
    return std::pair(llvm::StringRef(name).edit_distance(wanted), name);
  };
  llvm::sort(names,
             [&](const std::string &a, const std::string &b) { return distance(a) < distance(b); });
  names.resize(std::min(count, most));
  if (count == 1)
    return "the only one is: " + names[0];
  return fmt::format("the nearest of {} are: {}", count, fmt::join(names, ", "));
}

} // namespace tw
