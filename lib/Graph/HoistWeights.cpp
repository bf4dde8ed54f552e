// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-hoist-weights (Passes.td).
#include "Graph/ConstantRegion.h"
#include "Graph/Passes.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_HOISTWEIGHTS
#include "Graph/Passes.h.inc"

namespace {

struct HoistWeights : impl::HoistWeightsBase<HoistWeights> {
  explicit HoistWeights(ConstantEvaluator *evaluator) : evaluator(evaluator) {}

  void runOnOperation() override {
    SmallVector<Value> values;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr("tw.kernel")) // which holds no weights
        for (Block &block : function.getBody())
          values.append(ConstantRegion(block).frontier());
    if (values.empty() || !evaluator)
      return;
    auto weights = evaluator->evaluate(outlineConstants(values, getOperation()));
    if (failed(weights))
      return signalPassFailure();
    for (auto [value, weight] : llvm::zip_equal(values, *weights)) {
      OpBuilder b(value.getDefiningOp());
      value.replaceAllUsesWith(graph::WeightOp::create(b, value.getLoc(), value.getType(), weight));
      emitReport(value.getLoc()) << "evaluated at compile time";
    }
  }

  ConstantEvaluator *evaluator;
};

} // namespace

std::unique_ptr<Pass> createHoistWeights(ConstantEvaluator *evaluator) {
  return std::make_unique<HoistWeights>(evaluator);
}

} // namespace tw
