// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a candidate may take before it is given up: a configuration that makes the compiler or the
// program hang, or take all memory, costs its own trial and not the search.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// How long something may take where the start takes `seconds`; `asked` (--timeout) instead, if it
/// is given.
int secondsForCandidate(std::optional<int> asked, double seconds);

/// How many bytes of addresses more than it has now a process may take that maps these files: what
/// is free, and what needs addresses only. Empty where the system does not say what is free.
std::optional<uint64_t> memoryForCandidate(const std::vector<std::string> &files);

} // namespace tw::cli
