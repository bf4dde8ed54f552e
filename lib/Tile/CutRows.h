// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that compute one row like another, without loops, cut into programs of fewer rows.
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::tile {

/// Gives each `rows` of the rows that programs of `kernel` compute a program of their own: along a
/// new last dimension of the grid. Rows run along dimension `dim` of each of `tiles`, whose extent
/// is a multiple of `rows`. False, and nothing is changed, where anything but elementwise
/// operations, shapes and boxes depends on rows, or a store does not.
bool cutRows(KernelOp kernel, llvm::ArrayRef<std::pair<mlir::Value, unsigned>> tiles, int64_t rows);

} // namespace tw::tile
