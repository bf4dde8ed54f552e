// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large one kernel can be, whatever it is written in and whoever runs it.
#pragma once
#include <cstdint>

namespace tw {

/// As many elements as a tile may have: their number then does not overflow, and no program works
/// for hours on one tile.
constexpr int64_t mostTileElements = int64_t(1) << 36;
/// As large as a symbol may be: sums and small multiples of sizes and coordinates do not overflow.
/// No tensor with elements has more along a dimension.
constexpr int64_t mostOfSymbol = (int64_t(1) << 40) - 1;
/// As many programs as a grid may have.
constexpr int64_t mostPrograms = int64_t(1) << 40;

} // namespace tw
