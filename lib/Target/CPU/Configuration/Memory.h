// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was measured of memory beyond the caches near by (docs/cpu-target.md, "Packed weights").
#pragma once
#include <cstdint>

namespace tw::target::cpu {

/// As many bytes of weights are no longer in the second-level cache when a call uses them.
constexpr int64_t forgottenBytes = 3 << 19;
/// As many of an operand do not stay in a second-level cache of 2 MiB beside the others.
constexpr int64_t crowdedBytes = 1 << 20;
/// As many are all of that of a small CPU.
constexpr int64_t smallBytes = 1 << 19;
/// As many stay in that of any CPU.
constexpr int64_t nearBytes = 1 << 18;
/// Bytes that come from memory in a cycle.
constexpr int64_t memoryRate = 8;

} // namespace tw::target::cpu
