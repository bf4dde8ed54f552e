// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives each tensor that the graph computes a number, in the order of the text:
//
//   %y = linalg.generic ... -> tensor<4xf32>
// becomes
//   %y = linalg.generic ... {tw.values = [#tw.value<0 is 17 : tensor<4xf32>>]} -> tensor<4xf32>
//
// Two programs of one graph know their values by it (IR/Graph/Values.h).
#include "Graph/Passes.h"
#include "IR/Graph/HostLevel.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
namespace {

/// What others compute or move: no constants, nothing that is only filled or allocated.
bool isNumbered(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool isTensorOp = dialect == linalg::LinalgDialect::getDialectNamespace() ||
                    dialect == tensor::TensorDialect::getDialectNamespace() ||
                    dialect == graph::TWDialect::getDialectNamespace();
  return isTensorOp && !isa<graph::WeightOp, tensor::EmptyOp, linalg::FillOp>(op) &&
         graph::isHostLevel(op);
}

struct NumberValues : PassWrapper<NumberValues, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NumberValues)
  StringRef getArgument() const override { return "tw-number-values"; }
  StringRef getDescription() const override { return "Number the values that the graph computes"; }

  void runOnOperation() override {
    int64_t next = 0;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isNumbered(op))
        return;
      SmallVector<graph::ValueAttr> values;
      for (OpResult result : op->getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType()))
          values.push_back(
              graph::ValueAttr::get(&getContext(), result.getResultNumber(), next++, type, {}));
      graph::setValues(op, values);
    });
  }
};

} // namespace

std::unique_ptr<Pass> createNumberValues() { return std::make_unique<NumberValues>(); }

} // namespace tw
