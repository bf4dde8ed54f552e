// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings a kernel into the few operations that have emitters.
#include "Target/Reference/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace tw::target::reference {

/// collapse_shape of a slice, which has gaps: the slice is copied first.
static void copyMergedSlices(func::FuncOp kernel) {
  SmallVector<tensor::CollapseShapeOp> merges;
  kernel.walk([&](tensor::CollapseShapeOp op) { merges.push_back(op); });
  for (tensor::CollapseShapeOp op : merges) {
    Value root = op.getSrc();
    bool sliced = false;
    while (Operation *def = root.getDefiningOp()) {
      if (!isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::ExpandShapeOp,
               tensor::CollapseShapeOp>(def))
        break;
      sliced |= isa<tensor::ExtractSliceOp>(def);
      root = def->getOperand(0);
    }
    if (!sliced)
      continue;
    OpBuilder b(op);
    Value empty =
        tensor::EmptyOp::create(b, op.getLoc(), tensor::getMixedSizes(b, op.getLoc(), op.getSrc()),
                                op.getSrcType().getElementType());
    auto copy = linalg::CopyOp::create(b, op.getLoc(), op.getSrc(), empty);
    op.getSrcMutable().assign(copy.getResult(0));
  }
}

LogicalResult prepareKernel(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  walkAndApplyPatterns(kernel, std::move(patterns));
  copyMergedSlices(kernel);
  SmallVector<linalg::LinalgOp> named;
  kernel.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op))
      named.push_back(op);
  });
  IRRewriter rewriter(kernel.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op->emitError("has no general form");
  }
  return success();
}

} // namespace tw::target::reference
