// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention reads its operands, and writes its output, through transposes and broadcasts:
//
//   %t = linalg.transpose %q permutation = [0, 2, 1, 3]
//   %o = tw.attention ins(%t, ...)                        maps (b, h, l, ...) -> (b, h, l, e), ...
// becomes
//   %o = tw.attention ins(%q, ...)                        maps (b, h, l, ...) -> (b, l, h, e), ...
//
// which costs nothing: its kernel reads blocks of any layout.
#include "Graph/Moves.h"
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
namespace {

AffineMap mapAt(graph::AttentionOp op, unsigned number) {
  return cast<AffineMapAttr>(op.getIndexingMaps()[number]).getValue();
}

void setMap(graph::AttentionOp op, unsigned number, AffineMap map) {
  SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
  maps[number] = AffineMapAttr::get(map);
  op.setIndexingMapsAttr(ArrayAttr::get(op.getContext(), maps));
}

/// Query, key and value must go on running along all that they have to.
bool keepsDims(AffineMap before, AffineMap after, unsigned batch) {
  for (unsigned dim = batch; dim < before.getNumDims(); ++dim)
    if (before.isFunctionOfDim(dim) && !after.isFunctionOfDim(dim))
      return false;
  return true;
}

void foldOperands(graph::AttentionOp op) {
  for (unsigned number = 0; number < (op.getMask() ? 4 : 3); ++number) {
    OpOperand &operand = op->getOpOperand(number);
    while (auto move = asMove(operand.get().getDefiningOp())) {
      AffineMap before = mapAt(op, number), after = move->source.compose(before);
      if (number < 3 && !keepsDims(before, after, op.batchDims()))
        break;
      setMap(op, number, after);
      operand.set(move->input());
    }
  }
}

/// The one reader of the output that only transposes it gives its layout.
void foldOutput(graph::AttentionOp op) {
  while (op.getResult(0).hasOneUse()) {
    auto move = asMove(*op.getResult(0).user_begin());
    if (!move || !move->source.isPermutation())
      return;
    AffineMap output = op.resultMap(0);
    OpBuilder b(op);
    SmallVector<OpFoldResult> sizes = resolvedSizes(op.getOuts()[0], b), moved(sizes.size());
    SmallVector<AffineExpr> axes(sizes.size());
    for (auto [axis, expr] : llvm::enumerate(move->source.getResults())) {
      unsigned to = cast<AffineDimExpr>(expr).getPosition();
      axes[to] = output.getResult(axis);
      moved[to] = sizes[axis];
    }
    auto type = cast<RankedTensorType>(move->result().getType());
    setMap(op, op.getIndexingMaps().size() - op->getNumResults(),
           AffineMap::get(output.getNumDims(), 0, axes, op.getContext()));
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), moved, type.getElementType());
    if (empty.getType() != type)
      empty = tensor::CastOp::create(b, op.getLoc(), type, empty);
    op.getOutsMutable()[0].set(empty);
    op.getResult(0).setType(type);
    graph::setValues(op, llvm::filter_to_vector(graph::valuesOf(op), [](graph::ValueAttr value) {
                       return value.getResult() != 0; // which is the move's now
                     }));
    graph::keepValues(move->result(), op.getResult(0));
    move->result().replaceAllUsesWith(op.getResult(0));
    move->op->erase();
  }
}

struct FoldAttentionTransposes : PassWrapper<FoldAttentionTransposes, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldAttentionTransposes)
  StringRef getArgument() const override { return "tw-fold-attention-transposes"; }
  StringRef getDescription() const override { return "Attention through transposes"; }

  void runOnOperation() override {
    SmallVector<graph::AttentionOp> all;
    getOperation()->walk([&](graph::AttentionOp op) { all.push_back(op); });
    for (graph::AttentionOp op : all) {
      foldOperands(op);
      foldOutput(op);
    }
  }
};

} // namespace

std::unique_ptr<Pass> createFoldAttentionTransposes() {
  return std::make_unique<FoldAttentionTransposes>();
}

} // namespace tw
