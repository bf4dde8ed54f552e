// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-number-values (Passes.td).
#include "Graph/Passes.h"
#include "IR/Graph/HostLevel.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_NUMBERVALUES
#include "Graph/Passes.h.inc"

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

struct NumberValues : impl::NumberValuesBase<NumberValues> {
  void runOnOperation() override {
    int64_t next = 0;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isNumbered(op))
        return;
      SmallVector<graph::ValueAttr> values;
      for (OpResult result : op->getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType()))
          values.push_back(graph::ValueAttr::get(&getContext(), result.getResultNumber(), next++,
                                                 type, ArrayRef<int64_t>(), ArrayRef<int64_t>()));
      graph::setValues(op, values);
    });
  }
};

} // namespace

} // namespace tw
