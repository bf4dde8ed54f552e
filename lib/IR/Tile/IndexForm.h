// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices of a kernel as expressions over symbols, and what follows of accesses before it runs.
#pragma once
#include "IR/Tile/Tile.h"
#include <optional>
#include <string>

namespace tw::tile {

/// The symbol that stands for the coordinate of a program along a dimension of the grid: no name
/// that a kernel can declare.
std::string coordinateSymbol(int64_t dim);

/// The symbol that stands for the induction variable of a loop where its body is: no name that a
/// kernel can declare.
std::string loopSymbol(ForOp loop);

/// The value of an index as an expression over symbols, coordinates of the program and induction
/// variables of the loops around it; nothing when it is made of other things.
std::optional<Size> indexForm(mlir::Value index);

/// Whether `extent` elements of a buffer of `size`, from `position` on and `stride` apart, are all
/// inside of it, in every program and iteration, whatever the symbols are. False where that is not
/// known, and for positions that are tiles. `access`, in `kernel`, is what reads or writes them.
bool isSurelyInside(KernelOp kernel, mlir::Operation *access, mlir::Value position,
                    const Size &extent, int64_t stride, const Size &size);

} // namespace tw::tile
