// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along the rows of sums in registers: each thread combines what it has of a row, then
// the four threads that have the row combine theirs.
#pragma once
#include "IR/Tile/Tile.h"
#include "mlir/IR/Builders.h"

namespace tw::target::nvidia {

/// Whether they can be made of sums: f32, added up, or their maximum or minimum.
bool isReductionOfSums(tile::ReduceOp reduce);

/// In so many chains, none of which waits for another.
mlir::Value combinedInChains(mlir::OpBuilder &b, mlir::Location loc, tile::ReduceKind kind,
                             llvm::SmallVector<mlir::Value> values, size_t most);

/// Of the four threads that have a row.
mlir::Value combineLanes(mlir::OpBuilder &b, mlir::Location loc, tile::ReduceKind kind,
                         mlir::Value value);

} // namespace tw::target::nvidia
