// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on tile programs, one file each.
#pragma once
#include "Support/Size.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace mlir {
class Pass;
class RewritePatternSet;
} // namespace mlir

namespace tw::tile {

class KernelOp;

// Creators of passes, one for each in Passes.td.
#define GEN_PASS_DECL
#include "Tile/Passes.h.inc"

/// Replaces symbols by values: in types, sizes, the grid and the body. An argument that was such a
/// symbol stays, and is not looked at any more.
std::unique_ptr<mlir::Pass> createSpecialize(Size::Values values = {});

/// The same for one kernel, in place. Emits TILE_1 and leaves the kernel as it was when a symbol
/// does not exist, may not have its value, or a size would be negative or no number.
mlir::LogicalResult specialize(KernelOp kernel, const Size::Values &values);

/// The rewrites of tile-simplify: each makes a kernel smaller or its operations simpler.
void addSimplifications(mlir::RewritePatternSet &patterns);

/// For tilewright-opt.
void registerPasses();

} // namespace tw::tile
