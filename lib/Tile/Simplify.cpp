// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-simplify: folds index arithmetic and tiles of one value, merges equal operations, drops dead
// ones and loops that make one trip or none.
//
//   %c2 = arith.constant 2 : index
//   %c3 = arith.constant 3 : index
//   %i = arith.muli %c2, %c3 : index
//   %z = tile.full %zero : f32 -> tensor<1x1xf32>
//   %zs = tile.broadcast %z : tensor<1x1xf32> -> tensor<1x?xf32, #tile.dims<[N]>>
// becomes
//   %i = arith.constant 6 : index
//   %zs = tile.full %zero : f32 -> tensor<1x?xf32, #tile.dims<[N]>>
#include "IR/Tile/Tile.h"
#include "Tile/BindCalls.h"
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
namespace {

struct Simplify : PassWrapper<Simplify, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Simplify)
  StringRef getArgument() const override { return "tile-simplify"; }
  StringRef getDescription() const override { return "Simplify tile programs"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect>();
  }

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

std::unique_ptr<Pass> createSimplify() { return std::make_unique<Simplify>(); }

void registerPasses() {
  registerPass(createSimplify);
  registerPass(createOrderOperations);
  registerPass(createFuseDispatches);
  registerPass(createSplitLoops);
  registerPass(createUpdateInPlace);
  registerPass([] { return createSpecialize(); });
  registerPass([] { return createBindCalls(); });
}

} // namespace tw::tile
