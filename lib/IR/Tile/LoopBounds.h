// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::tile {

/// How many bits a size takes at most, and all that is computed on the way to it, signs aside:
/// symbols are at most mostOfSymbol, which is checked at each call of a hand-written kernel.
unsigned bitsOf(const Size &size);

/// Whether the bounds of a loop follow from sizes, programs and variables of loops so that neither
/// they nor their difference overflow, as it is of positions; bounds from numbers of the caller,
/// or from data, can be anything.
bool hasSmallBounds(ForOp loop);

} // namespace tw::tile
