// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Problems.h"
#include <fmt/format.h>

namespace tw::pt2 {

llvm::LogicalResult Problems::add(Diagnostic problem) {
  list.push_back(std::move(problem));
  return llvm::failure();
}

Diagnostic Problems::combined() const {
  constexpr size_t shown = 100;
  Diagnostic result = list.front();
  for (size_t i = 1; i < std::min(list.size(), shown); ++i)
    result.notes.push_back(fmt::format("also {}: {}\n        --> {}", codeName(list[i].code),
                                       list[i].message, list[i].location));
  if (list.size() > shown)
    result.notes.push_back(fmt::format("and {} more", list.size() - shown));
  return result;
}

} // namespace tw::pt2
