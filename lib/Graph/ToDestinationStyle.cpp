// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-to-destination-style (Passes.td).
#include "Graph/Passes.h"
#include "Graph/Rows.h"
#include "Graph/Sizes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/HostLevel.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_TODESTINATIONSTYLE
#include "Graph/Passes.h.inc"

namespace {

Value emptyLike(Value value, OpBuilder &b, Location loc) {
  auto type = cast<RankedTensorType>(value.getType());
  return tensor::EmptyOp::create(b, loc, resolvedSizes(value, b), type.getElementType());
}

/// A copy of `value` in a tensor of its own.
Value copyOf(Value value, OpBuilder &b, Location loc) {
  return linalg::CopyOp::create(b, loc, value, emptyLike(value, b, loc)).getResult(0);
}

/// False when `init` only says where to write.
bool isRead(OpOperand &init) {
  auto op = dyn_cast<linalg::LinalgOp>(init.getOwner());
  return !op || op.payloadUsesValueFromOperand(&init);
}

/// True when overwriting `init` destroys nothing: it is fresh, or made for this use alone.
bool isOwn(Value init) {
  Operation *op = init.getDefiningOp();
  if (!op)
    return false;
  if (isa<tensor::EmptyOp>(op))
    return true;
  return isCompute(op) && init.hasOneUse();
}

struct ToDestinationStyle : impl::ToDestinationStyleBase<ToDestinationStyle> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateConvertToDestinationStylePatterns(patterns);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     GreedyRewriteConfig().setListener(graph::valueKeeper()))))
      return signalPassFailure();
    splitFills();
    copySharedInits();
    copyLeavingSlices();
    copyLeavingConstants();
  }

  void splitFills() {
    SmallVector<linalg::FillOp> fills;
    getOperation()->walk([&](linalg::FillOp op) { fills.push_back(op); });
    for (linalg::FillOp fill : fills)
      for (OpOperand &use : llvm::make_early_inc_range(fill->getUses())) {
        auto user = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
        if (!user || !user.isDpsInit(&use) || fill->hasOneUse())
          continue;
        OpBuilder b(user);
        use.set(b.clone(*fill)->getResult(0));
      }
  }

  void copySharedInits() {
    getOperation()->walk([](DestinationStyleOpInterface op) {
      if (!isCompute(op))
        return;
      OpBuilder b(op);
      for (OpOperand &init : op.getDpsInitsMutable())
        if (!isOwn(init.get()))
          init.set(isRead(init) ? copyOf(init.get(), b, op.getLoc())
                                : emptyLike(init.get(), b, op.getLoc()));
    });
  }

  void copyLeavingSlices() {
    SmallVector<tensor::ExtractSliceOp> slices;
    getOperation()->walk([&](tensor::ExtractSliceOp op) {
      if (!op->getParentOfType<linalg::GenericOp>())
        slices.push_back(op);
    });
    for (tensor::ExtractSliceOp slice : slices) {
      OpBuilder b(slice);
      b.setInsertionPointAfter(slice);
      Value copy;
      for (OpOperand &use : llvm::make_early_inc_range(slice->getUses())) {
        if (isCompute(use.getOwner()))
          continue;
        if (!copy) {
          copy = copyOf(slice, b, slice.getLoc());
          graph::keepValues(slice, copy);
        }
        if (use.getOwner() != copy.getDefiningOp())
          use.set(copy);
      }
    }
  }

  /// Constants live in kernels: one that the program itself needs is copied from there.
  void copyLeavingConstants() {
    SmallVector<arith::ConstantOp> constants;
    getOperation()->walk([&](arith::ConstantOp op) {
      if (isa<RankedTensorType>(op.getType()) && graph::isHostLevel(op))
        constants.push_back(op);
    });
    for (arith::ConstantOp constant : constants) {
      Value copy;
      for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
        if (isCompute(use.getOwner()) || !graph::isHostLevel(use.getOwner()))
          continue;
        if (!copy) {
          OpBuilder b(constant->getContext());
          b.setInsertionPointAfter(constant);
          copy = copyOf(constant, b, constant.getLoc());
        }
        if (use.getOwner() != copy.getDefiningOp())
          use.set(copy);
      }
    }
  }
};

} // namespace

} // namespace tw
