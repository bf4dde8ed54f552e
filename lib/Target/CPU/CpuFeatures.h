// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code may be made for: named CPUs, their features, and the block sizes that suit them. No
// MLIR here: whoever chooses the configuration of a kernel asks too.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
  /// vdpbf16ps: sums of two products of bf16, in f32 lanes.
  bool hasBf16Dot = false;
  /// AMX with bf16: tdpbf16ps on tiles of 16 x 16 sums and 32 steps along K.
  bool hasBf16Tiles = false;

  /// From LLVM's names of features ("avx2", "avx512f", with or without a leading '+').
  static CpuFeatures fromNames(std::span<const std::string> names);

  /// The block of a product with f32 sums (`bytes` = 4) or f64 sums (8) that runs best when a
  /// program goes over all of K: measured, see docs/cpu-target.md, "Matrix products".
  RegisterBlock productBlock(int64_t bytes) const;

  /// Whether bf16 is best multiplied in pairs, b packed as [N ceildiv columns, K ceildiv 2,
  /// columns, 2], and with which rows and columns (Dot/DotPairs.h).
  std::optional<RegisterBlock> pairTile() const;
};

/// The CPUs that code can be made for by name, beside the host's own: "x86-64-v2", ...
std::vector<std::string_view> cpuNames();

/// LLVM's names of the features that code for the named CPU may use; nothing for unknown names.
std::optional<std::vector<std::string>> featuresOfCpu(std::string_view name);

} // namespace tw::target
