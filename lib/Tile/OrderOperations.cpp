// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile-order (Passes.td).
#include "IR/Tile/Tile.h"
#include "Tile/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tw::tile {
#define GEN_PASS_DEF_ORDEROPERATIONS
#include "Tile/Passes.h.inc"

namespace {

/// The same for the whole kernel, wherever it stands.
bool isOfTheWhole(Operation *op) { return isa<arith::ConstantOp, SizeOp, ProgramIdOp>(op); }

/// A step that is not made has length 1.
void normalizeSlice(SliceOp op) {
  SmallVector<int64_t> strides(op.getStrides());
  for (auto [extent, stride] : llvm::zip(op.getType().getShape(), strides))
    if (!ShapedType::isDynamic(extent) && extent <= 1)
      stride = 1;
  op.setStrides(strides);
}

/// The operations of a block in the order in which they are needed.
class BlockOrder {
public:
  explicit BlockOrder(Block &block) : block(block) {
    for (Operation &op : block)
      if (!isPure(&op) || op.hasTrait<OpTrait::IsTerminator>())
        place(&op);
  }

  void apply() {
    for (Operation *op : order)
      op->moveBefore(&block, block.end());
  }

private:
  /// With what it needs before it. Recursion is as deep as an expression of the kernel.
  void place(Operation *op) {
    if (order.contains(op))
      return;
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *needed = operand.getDefiningOp();
            needed && needed != op && needed->getBlock() == &block)
          place(needed);
    });
    order.insert(op);
  }

  Block &block;
  llvm::SetVector<Operation *> order;
};

struct OrderOperations : impl::OrderOperationsBase<OrderOperations> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Block &body = kernel.getBody().front();
    kernel.walk([](SliceOp op) { normalizeSlice(op); });
    SmallVector<Operation *> first;
    kernel.walk([&](Operation *op) {
      if (isOfTheWhole(op))
        first.push_back(op);
    });
    for (Operation *op : first)
      op->moveBefore(&body, body.begin());
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(kernel);
    eliminateCommonSubExpressions(rewriter, dominance, kernel);
    kernel.getBody().walk([](Block *block) { BlockOrder(*block).apply(); });
    // Those of the whole kernel in the order in which they are used, in blocks too.
    llvm::SetVector<Operation *> used;
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *needed = operand.getDefiningOp(); needed && isOfTheWhole(needed))
          used.insert(needed);
    });
    for (Operation *op : llvm::reverse(used))
      op->moveBefore(&body, body.begin());
  }
};

} // namespace

} // namespace tw::tile
