// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings a kernel into the few operations that have emitters.
#include "IR/Graph/Graph.h"
#include "Target/Reference/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace tw::target::reference {

/// True when there may be gaps between the elements of `value`: it is a view of a slice.
static bool isSliced(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (isa<tensor::ExtractSliceOp>(def))
      return true;
    if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(def))
      return false;
    value = def->getOperand(0);
  }
  return false;
}

/// Lets the operation read a copy, which has no gaps.
static void copyFirst(OpOperand &operand) {
  Operation *op = operand.getOwner();
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(operand.get().getType());
  Value empty = tensor::EmptyOp::create(b, op->getLoc(),
                                        tensor::getMixedSizes(b, op->getLoc(), operand.get()),
                                        type.getElementType());
  auto copy = linalg::CopyOp::create(b, op->getLoc(), operand.get(), empty);
  operand.set(copy.getResult(0));
}

/// What has gaps is copied where it must have none: merged dimensions, and the weights of
/// convolutions, whose window places and channels are read as one run.
static void copySlices(func::FuncOp kernel) {
  SmallVector<OpOperand *> dense;
  kernel.walk([&](Operation *op) {
    if (auto merge = dyn_cast<tensor::CollapseShapeOp>(op))
      dense.push_back(&merge.getSrcMutable());
    if (auto conv = dyn_cast<graph::ConvOp>(op))
      dense.push_back(&conv.getWeightMutable());
  });
  for (OpOperand *operand : dense)
    if (isSliced(operand->get()))
      copyFirst(*operand);
}

LogicalResult prepareKernel(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  walkAndApplyPatterns(kernel, std::move(patterns));
  copySlices(kernel);
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
