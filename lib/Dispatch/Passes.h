// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes one kernel: from a graph to calls of kernels (tw.dispatch).
#pragma once
#include "Dispatch/FusionLimits.h"
#include "IR/Graph/Graph.h" // the dialect that passes depend on
#include <memory>

namespace mlir {
class OpPassManager;
class Pass;
} // namespace mlir

namespace tw {

// Creators of passes, one for each in Passes.td.
#define GEN_PASS_DECL
#include "Dispatch/Passes.h.inc"

/// After buildGraphPipeline: dispatches formed by the first of the passes, within `limits`, which a
/// target gives.
void buildDispatchPipeline(mlir::OpPassManager &pm, const FusionLimits &limits = {});
/// After buildPlainGraphPipeline: by the second one.
void buildPlainDispatchPipeline(mlir::OpPassManager &pm);

/// For tilewright-opt: the passes, and tw-dispatches and tw-plain-dispatches, which lead there from
/// the graph that lowering gives.
void registerDispatchPasses();

} // namespace tw
