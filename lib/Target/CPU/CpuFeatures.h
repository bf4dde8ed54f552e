// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code may be made for: named CPUs, their features, and the block sizes that suit them. No
// MLIR here: whoever chooses the configuration of a kernel asks too.
#pragma once
#include "Support/InstructionSet.h"
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tw::target {

/// The part of a result that one program computes in registers.
struct RegisterBlock {
  int64_t rows, columns;
};

/// What code may use. The defaults suit any x86-64.
struct CpuFeatures {
  /// Bytes of a vector register: 16, 32 (AVX2) or 64 (AVX-512).
  unsigned vectorBytes = 16;
  /// Registers that hold vectors: 16 or 32.
  unsigned vectorRegisters = 16;
  /// The instruction that adds two products of neighbours in vectors of bf16 to each of the f32 in
  /// another one, as LLVM's intrinsic for whole registers: vdpbf16ps, bfdot. Null: there is none.
  const char *bf16Dot = nullptr;
  /// The instruction that rounds a whole register of f32 to bf16, denormal numbers to zero, as
  /// LLVM's intrinsic: vcvtneps2bf16. Null: there is none.
  const char *roundToBf16 = nullptr;
  /// AMX with bf16: tdpbf16ps on tiles of 16 x 16 sums and 32 steps along K.
  bool hasBf16Tiles = false;
  /// How many bytes ahead what streams from memory beside products is prefetched; 0: not at all. No
  /// feature says it, so it is what was measured of CPUs that have the same (docs/cpu-target.md,
  /// "Few rows").
  int64_t streamAhead = 0;
  /// The same of products of pairs of bf16 with so many rows that they take as long as memory does:
  /// a wait for either is not made up for then.
  int64_t pairStreamAhead = 0, balancedPairRows = 0;
  /// How many parts of it, equally long, are read side by side: where the CPU looks ahead in
  /// several pages at once, memory then gives more. Measured, too.
  int64_t streams = 1;
  /// Whether what the second-level cache (of 2 MiB) does not hold comes slowly, as from memory: so
  /// it is worth a copy to have lines of it next to each other. Measured, too ("Products of two
  /// inputs").
  bool hasSlowThirdLevel = false;
  /// Rows of a, at most, that pass by a panel of 64 columns of b while their sums lie in memory.
  /// Measured, too ("Packed weights").
  int64_t panelRows = 208;
  /// The instruction that orders non-temporal stores before what the caller does next, as LLVM's
  /// intrinsic; null: they are ordered as all others are.
  const char *storeFence = nullptr;
  CpuCaches caches;

  static CpuFeatures of(const InstructionSet &set, const CpuCaches &caches = {});

  /// The block of a product with f32 sums (`bytes` = 4) or f64 sums (8) that runs best when a
  /// program goes over all of K: measured, see docs/cpu-target.md, "Matrix products".
  RegisterBlock productBlock(int64_t bytes) const;

  /// The rows of such a block that is only so many vectors wide.
  int64_t productRows(int64_t vectors) const;

  /// Whether bf16 is best multiplied in pairs, b packed as [N ceildiv columns, K ceildiv 2,
  /// columns, 2], and with which rows and columns (Dot/DotPairs.h).
  std::optional<RegisterBlock> pairTile() const;
};

/// The CPUs that code can be made for by name, beside the host's own: "x86-64-v2", "aarch64", ...
std::vector<std::string_view> cpuNames();

struct NamedCpu {
  InstructionSet set;
  CpuCaches caches;
};

/// A CPU as users name it, "x86-64-v3" or "aarch64+bf16+l2=2M": one of cpuNames, features of
/// usefulFeatures that it has beside, and the bytes of the second-level cache that a thread has.
/// Nothing for other names.
std::optional<NamedCpu> namedCpu(std::string_view name);

} // namespace tw::target
