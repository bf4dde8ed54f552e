// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was measured of memory beyond the caches near by (docs/cpu-target.md, "Packed weights"),
// where a thread has 1 MiB of the second-level cache.
#pragma once
#include "Support/InstructionSet.h"

namespace tw::target::cpu {

/// As many bytes of weights are no longer in the second-level cache when a call uses them.
constexpr int64_t forgottenBytes(const CpuCaches &caches) { return caches.secondLevel * 3 / 2; }
/// As many of an operand are all of it: they do not stay there beside the others.
constexpr int64_t crowdedBytes(const CpuCaches &caches) { return caches.secondLevel; }
/// As many stay there beside anything.
constexpr int64_t nearBytes(const CpuCaches &caches) { return caches.secondLevel / 4; }
/// Bytes that come from memory in a cycle.
constexpr int64_t memoryRate = 8;

} // namespace tw::target::cpu
