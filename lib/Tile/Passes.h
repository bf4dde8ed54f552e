// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on tile programs, one file each.
#pragma once
#include "Support/Size.h"
#include "mlir/Support/LLVM.h"
#include <memory>

namespace mlir {
class Pass;
class RewritePatternSet;
} // namespace mlir

namespace tw::tile {

class KernelOp;

/// Folds, merges equal operations and drops dead ones; what it leaves is a kernel like any other.
std::unique_ptr<mlir::Pass> createSimplify();

/// Brings operations into the one order in which kernels are compared.
std::unique_ptr<mlir::Pass> createOrderOperations();

/// Fuses dispatches (tw.dispatch) of kernels of a module where one reads what the other writes.
std::unique_ptr<mlir::Pass> createFuseDispatches();

/// Makes two kernels of one that has few programs and a loop with `combine`, so that workers share
/// the loop (SplitLoops.h).
std::unique_ptr<mlir::Pass> createSplitLoops();

/// Lets a kernel read and write one buffer where its result takes the place of an input: state of
/// the program, or an input that it writes to.
std::unique_ptr<mlir::Pass> createUpdateInPlace();

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
