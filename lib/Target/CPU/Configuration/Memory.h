// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was measured of memory beyond the caches near by (docs/cpu-target.md, "Packed weights").
#pragma once
#include "Support/InstructionSet.h"

namespace tw::target::cpu {

/// As many bytes of weights are no longer in the second-level cache when a call uses them: a model
/// has other weights, so this does not grow with the cache.
constexpr int64_t forgottenBytes = 3 << 19;
/// As many stay in that of any CPU.
constexpr int64_t nearBytes = 1 << 18;
/// Bytes that come from memory in a cycle.
constexpr int64_t memoryRate = 8;

/// As many of an operand do not stay in the second-level cache beside the others.
constexpr int64_t crowdedBytes(const CpuCaches &caches) { return caches.secondLevel / 2; }

} // namespace tw::target::cpu
