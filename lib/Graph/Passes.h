// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph-level passes, one file each, and the order in which they run (Pipeline.cpp).
#pragma once
#include "Graph/ConstantEvaluator.h"
#include "IR/Graph/Graph.h" // the dialect that passes depend on
#include <memory>

namespace mlir {
class OpPassManager;
class Pass;
} // namespace mlir

namespace tw {

// Creators of passes, one for each in Passes.td.
#define GEN_PASS_DECL
#include "Graph/Passes.h.inc"

/// `evaluator` evaluates what depends on weights alone; it must outlive the pass.
std::unique_ptr<mlir::Pass> createHoistWeights(ConstantEvaluator *evaluator);

/// `evaluator` evaluates masks; it must outlive the pass.
std::unique_ptr<mlir::Pass> createFoldMasks(ConstantEvaluator *evaluator);

/// MLIR's canonicalisation, with the numbers of values (IR/Graph/Values.h) kept.
std::unique_ptr<mlir::Pass> createGraphCanonicalizer();

/// All of them in order. `evaluator` may be null: then nothing is evaluated at compile
/// time. `roundsProducts`: operands of products of f32 to bf16.
void buildGraphPipeline(mlir::OpPassManager &pm, ConstantEvaluator *evaluator,
                        bool roundsProducts = false);

/// Only what makes a graph executable: no pass that merges, moves, drops or evaluates anything.
/// What comes of it is the truth that compiled programs are checked against.
void buildPlainGraphPipeline(mlir::OpPassManager &pm);

/// For tilewright-opt.
void registerGraphPasses();

} // namespace tw
