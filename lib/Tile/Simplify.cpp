// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-simplify (Passes.td).
#include "IR/Tile/Tile.h"
#include "Tile/Binding/BindCalls.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_SIMPLIFY
#include "Tile/Passes.h.inc"

namespace {

struct Simplify : impl::SimplifyBase<Simplify> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    addSimplifications(all);
    patterns = std::move(all);
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.enableFolding(false); // Fold decides what is folded
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    for (bool changed = true; changed;) {
      if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
        return signalPassFailure();
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(getOperation());
      changed = false; // merging equal operations may allow more rewrites
      eliminateCommonSubExpressions(rewriter, dominance, getOperation(), &changed);
    }
  }

private:
  FrozenRewritePatternSet patterns;
};

} // namespace

void registerPasses() {
  registerPass(createSimplify);
  registerPass(createOrderOperations);
  registerPass([] { return createFuseDispatches(); });
  registerPass([] { return createFuseRows(); });
  registerPass([] { return createSplitLoops(); });
  registerPass(createUpdateInPlace);
  registerPass(createAllowTF32);
  registerPass(createShareKernels);
  registerPass(createMarkConstants);
  registerPass([] { return createSpecialize(); });
  registerPass([] { return createBindCalls(); });
}

} // namespace tw::tile
