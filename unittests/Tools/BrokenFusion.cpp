// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler whose fusion is wrong, for the tests of `tilewright check`: it takes the place of
// Graph/FuseElementwise and "merges" an elementwise producer by forgetting what it computes.
#include "Graph/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {

struct BrokenFusion : PassWrapper<BrokenFusion, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BrokenFusion)

  void runOnOperation() override {
    getOperation()->walk([](linalg::GenericOp consumer) {
      for (OpOperand *input : consumer.getDpsInputOperands()) {
        auto producer = input->get().getDefiningOp<linalg::GenericOp>();
        if (producer && producer.getNumDpsInputs() > 0 &&
            producer.getInputs()[0].getType() == input->get().getType())
          input->set(producer.getInputs()[0]);
      }
    });
  }
};

} // namespace

std::unique_ptr<Pass> tw::createFuseElementwise() { return std::make_unique<BrokenFusion>(); }
