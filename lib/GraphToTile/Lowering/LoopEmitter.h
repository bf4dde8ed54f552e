// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a loop program as a tile program: a statement's results are tiles with an axis for each
// dimension of the program, 1 long where they do not extend.
#pragma once
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "IR/Tile/Tile.h"

namespace tw::conversion {

/// Creates the kernel at the builder's insertion point. The configuration must be legal.
tile::KernelOp emitLoops(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                         const LoopProgram &program, const LoopConfiguration &configuration);

} // namespace tw::conversion
