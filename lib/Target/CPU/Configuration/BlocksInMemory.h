// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products whose block of sums lies in memory, so that rows pass by a part of b that stays in a
// near cache: where operands are converted, b is packed beside the products, or panels of a packed
// b come from beyond the caches. Measured: docs/cpu-target.md, "Products".
#pragma once
#include "Target/CPU/Configuration/ContractionCost.h"
#include <optional>

namespace tw::target::cpu {

/// Rows from which on panels of a packed b pass by a block in memory: fewer are one block in
/// registers, and little beside reading b.
inline constexpr int64_t streamedRows = 7;
/// Rows of a block in tile registers.
inline constexpr int64_t pairRowsOfTiles = 32;
/// Rows from which on an operand is packed in pairs beside the product (Plan/Products.cpp).
inline constexpr int64_t leastPackedRows = 13;

/// A block in memory instead of `inRegisters`; nothing where that is the faster one.
std::optional<CPUContraction> chooseInMemory(const Contraction &contraction, const VectorUnit &unit,
                                             const CPUContraction &inRegisters);

/// The same for a variant, whose rows have a bound: where its rows are so few that all products
/// hide behind reading b from memory, be there one row or the most; or where they are pairs in
/// several tile registers, so that the next block of b is asked for meanwhile.
std::optional<CPUContraction> variantInMemory(const Contraction &contraction,
                                              const VectorUnit &unit,
                                              const CPUContraction &inRegisters);

/// Whether b comes from memory: the caches have forgotten it when a call uses it.
bool isForgotten(const Contraction &contraction);

/// Taken for sizes of which nothing is known.
inline constexpr int64_t unknownExtent = 512;
/// Of the innermost of `dims`: its size, what it is at most, or a guess; 1 of none.
int64_t sizeOf(const Contraction &contraction, const std::vector<int> &dims);

/// Whether b's columns are not side by side.
bool isTransposed(const Contraction &contraction);

} // namespace tw::target::cpu
