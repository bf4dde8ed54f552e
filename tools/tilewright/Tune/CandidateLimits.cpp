// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CandidateLimits.h"
#include "tools/tilewright/Machine.h"
#include <algorithm>
#include <filesystem>

namespace tw::cli {

int secondsForCandidate(std::optional<int> asked, double seconds) {
  constexpr double atLeast = 30, times = 20, atMost = 1e6;
  return asked.value_or(int(std::min(atLeast + times * seconds, atMost)));
}

std::optional<uint64_t> memoryForCandidate(const std::vector<std::string> &files) {
  // Of libraries, stacks and the arenas of malloc.
  constexpr uint64_t addressesOnly = uint64_t(2) << 30;
  auto available = uint64_t(availableMemory());
  if (available == 0)
    return std::nullopt;
  uint64_t bytes = available + addressesOnly;
  for (const std::string &file : files)
    for (const char *suffix : {"", ".weights"}) {
      std::error_code error; // there need not be one
      auto size = std::filesystem::file_size(file + suffix, error);
      bytes += error ? 0 : size;
    }
  return bytes;
}

} // namespace tw::cli
