// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensor.dim of a computed tensor becomes the size the tensor was made with, until only dimensions
// of function arguments (and of what loops carry) are asked for:
//
//   %e = tensor.empty(%n) : tensor<?xf32>
//   %r = linalg.generic ... outs(%e)            ->   uses of %d become %n
//   %d = tensor.dim %r, %c0
//
// So equal sizes are one value, dispatches do not depend on tensors for sizes alone, and dead
// computations can go.
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
namespace {

struct ResolveDims : PassWrapper<ResolveDims, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ResolveDims)
  StringRef getArgument() const override { return "tw-resolve-dims"; }
  StringRef getDescription() const override { return "Express sizes by the entry's symbols"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    SmallVector<tensor::DimOp> queries;
    getOperation()->walk([&](tensor::DimOp op) { queries.push_back(op); });
    for (tensor::DimOp op : queries) {
      std::optional<int64_t> dim = op.getConstantIndex();
      if (!dim || *dim >= op.getSource().getType().getRank())
        continue;
      OpBuilder b(op);
      Value size =
          getValueOrCreateConstantIndexOp(b, op.getLoc(), resolvedSize(op.getSource(), *dim, b));
      op.replaceAllUsesWith(size);
      op.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createResolveDims() { return std::make_unique<ResolveDims>(); }

} // namespace tw
