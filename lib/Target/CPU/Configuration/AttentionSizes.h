// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the costs of attention and of its gradients count with.
#pragma once
#include "Kernels/AttentionInputs.h"
#include "Target/CPU/Configuration/VectorUnit.h"

namespace tw::target::cpu {

constexpr int64_t mostOfUnknown = 64; // in a block: calls may bring fewer

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Sizes; guesses where calls bring them.
struct AttentionSizes {
  AttentionSizes(const kernels::AttentionInputs &spec, const VectorUnit &unit);

  static int64_t sizeOf(const kernels::AttentionInputs &spec, int dim);
  /// Whether such a product takes the instructions for pairs of bf16 (Dot/PackPairs.h).
  bool isInPairs(int64_t rows, int64_t columns, int64_t length) const;
  /// A product whose sums lie in memory; in pairs, with what packs them.
  double productCycles(int64_t rows, int64_t columns, int64_t length) const;

  int64_t queries, keys, depth, width, lanes, bytes;
  bool isCausal, areQueriesKnown, areKeysKnown;
  bool hasPairs, hasTiles; // instructions for the operands
};

} // namespace tw::target::cpu
