// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch-to-graph (Passes.td).
#include "TorchToGraph/TorchToGraph.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Core/RecomposeAttention.h"
#include "TorchToGraph/Core/RecomposeSelectScatter.h"
#include "TorchToGraph/Core/Translator.h"
#include "TorchToGraph/Core/Unsupported.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_TORCHTOGRAPH
#include "TorchToGraph/Passes.h.inc"

namespace {

bool hasTorchTypes(func::FuncOp func) {
  auto isTorch = [](Type type) { return isa<torch::TorchDialect>(type.getDialect()); };
  if (llvm::any_of(func.getArgumentTypes(), isTorch) ||
      llvm::any_of(func.getResultTypes(), isTorch))
    return true;
  return func
      .walk([&](Operation *op) {
        return isa_and_nonnull<torch::TorchDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Bindings of intermediate tensors would only keep them alive; needed are those of arguments, and
/// of custom operators' results, which their kernels are compared with.
void dropDead(ModuleOp module) {
  module.walk([](torch::BindSymbolicShapeOp op) {
    if (!isa<BlockArgument>(op.getOperand()) && !op.getOperand().getDefiningOp<torch::OperatorOp>())
      op.erase();
  });
  IRRewriter rewriter(module.getContext());
  (void)runRegionDCE(rewriter, module->getRegions());
}

struct TorchToGraph : impl::TorchToGraphBase<TorchToGraph> {
  explicit TorchToGraph(KernelNames kernels) : kernels(std::move(kernels)) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    lower::recomposeAttention(module);
    lower::recomposeSelectScatter(module);
    dropDead(module);
    bool failed = mlir::failed(lower::reportUnsupported(module, kernels));
    SmallVector<func::FuncOp> old;
    for (auto func : module.getOps<func::FuncOp>())
      if (hasTorchTypes(func))
        old.push_back(func);
    for (func::FuncOp func : old)
      if (!func.isPrivate() && !lower::Translator(func).run())
        failed = true;
    for (func::FuncOp func : old)
      func.erase();
    if (failed)
      return signalPassFailure();
    IRRewriter rewriter(module.getContext());
    (void)runRegionDCE(rewriter, module->getRegions());
  }

private:
  KernelNames kernels;
};

} // namespace

std::unique_ptr<Pass> createTorchToGraphPass(KernelNames kernels) {
  return std::make_unique<TorchToGraph>(std::move(kernels));
}
void registerTorchToGraphPass() {
  registerPass([] { return createTorchToGraphPass({}); });
}

} // namespace tw
