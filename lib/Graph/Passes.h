// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph-level passes, one file each, and the order in which they run (Pipeline.cpp).
#pragma once
#include "Graph/ConstantEvaluator.h"
#include <memory>

namespace mlir {
class OpPassManager;
class Pass;
} // namespace mlir

namespace tw {

/// Replaces tensor.dim of computed tensors by the size they were made with.
std::unique_ptr<mlir::Pass> createResolveDims();
/// Drops results of reductions that nobody reads.
std::unique_ptr<mlir::Pass> createDropDeadResults();
/// Updates elements of whole tensors instead of slices that are put back.
std::unique_ptr<mlir::Pass> createScatterIntoWhole();
/// Reads through reshapes that only add or drop dimensions of size one, and drops loops that only
/// they had.
std::unique_ptr<mlir::Pass> createFoldUnitReshapes();
/// Lets bodies look elements up in tensors instead of in slices of them.
std::unique_ptr<mlir::Pass> createReadCapturedViews();
/// Lets convolutions pad with zeros themselves.
std::unique_ptr<mlir::Pass> createFoldPadding();
/// Cuts dimensions before slices are taken, not after.
std::unique_ptr<mlir::Pass> createReshapeBeforeSlice();
/// Merges elementwise producers into the linalg.generic that consumes them.
std::unique_ptr<mlir::Pass> createFuseElementwise();
/// Makes attention read and write through transposes.
std::unique_ptr<mlir::Pass> createFoldAttentionTransposes();
/// Makes attention read keys and values that are repeated for groups of queries once.
std::unique_ptr<mlir::Pass> createGroupQueries();
/// Makes gradients of keys that groups of queries share sums over the groups.
std::unique_ptr<mlir::Pass> createSumGroupGradients();
/// Runs convolutions, and what stands between them, with channels last.
std::unique_ptr<mlir::Pass> createChannelsLast();
/// Lays out weights so that contractions read them contiguously along their output.
std::unique_ptr<mlir::Pass> createTransposeWeights();
/// Evaluates what depends on weights alone; the results become weights.
std::unique_ptr<mlir::Pass> createHoistWeights(ConstantEvaluator *evaluator);
/// Turns every computation into operations that write into a destination of their own.
std::unique_ptr<mlir::Pass> createToDestinationStyle();

/// Numbers the values of the graph (IR/Graph/Values.h); all other passes keep the numbers.
std::unique_ptr<mlir::Pass> createNumberValues();
/// MLIR's passes of these names, with the numbers of values kept; where there are none they do
/// what MLIR's do.
std::unique_ptr<mlir::Pass> createGraphCanonicalizer();
std::unique_ptr<mlir::Pass> createGraphCSE();

/// All of them in order. `evaluator` may be null: then nothing is evaluated at compile
/// time.
void buildGraphPipeline(mlir::OpPassManager &pm, ConstantEvaluator *evaluator);

/// Only what makes a graph executable: no pass that merges, moves, drops or evaluates anything.
/// What comes of it is the truth that compiled programs are checked against.
void buildPlainGraphPipeline(mlir::OpPassManager &pm);

/// For tilewright-opt.
void registerGraphPasses();

} // namespace tw
