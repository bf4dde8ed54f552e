// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-collapse-sums (Passes.td).
#include "Graph/Passes.h"
#include "Graph/Sizes.h"
#include "IR/Graph/Contraction.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_COLLAPSESUMS
#include "Graph/Passes.h.inc"

namespace {

/// Reductions that follow each other wherever there is one of them, in sequences of at least two.
SmallVector<ReassociationIndices> adjacentSums(linalg::GenericOp op, AffineMap operand) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<ReassociationIndices> sequences(1);
  for (AffineExpr position : operand.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(position);
    bool isSum = dim && linalg::isReductionIterator(iterators[dim.getPosition()]);
    ReassociationIndices longer = sequences.back();
    if (isSum)
      longer.push_back(dim.getPosition());
    bool follows = isSum && (longer.size() == 1 || linalg::areDimSequencesPreserved(maps, longer));
    if (follows)
      sequences.back() = longer;
    else
      sequences.push_back(isSum ? ReassociationIndices{int64_t(dim.getPosition())}
                                : ReassociationIndices());
  }
  llvm::erase_if(sequences, [](const ReassociationIndices &dims) { return dims.size() < 2; });
  return sequences;
}

void replace(linalg::GenericOp op, ValueRange results, IRRewriter &rewriter) {
  for (auto [old, now] : llvm::zip_equal(op->getResults(), results))
    graph::keepValues(old, now);
  rewriter.replaceOp(op, results);
}

/// Sums of one term are left to others: an operation without them may be no contraction.
bool hasSeveralSums(linalg::GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<unsigned> sums;
  op.getReductionDims(sums);
  return llvm::count_if(sums, [&](unsigned dim) { return ranges[dim] != 1; }) > 1;
}

bool hasPlainMaps(linalg::GenericOp op) {
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isProjectedPermutation(); });
}

/// How far a position moves with the one loop that it names; 0 if it is no multiple of a loop.
int64_t strideOf(AffineExpr position) {
  auto product = dyn_cast<AffineBinaryOpExpr>(position);
  if (!product)
    return isa<AffineDimExpr>(position);
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  bool isMultiple = product.getKind() == AffineExprKind::Mul && factor && factor.getValue() > 0;
  return isMultiple && isa<AffineDimExpr>(product.getLHS()) ? factor.getValue() : 0;
}

/// Whether, without loops of one iteration, operands are read and written at multiples of a loop's
/// variable each: windows of one element. Along an axis of size 1 nothing is left of it.
bool isPointwiseWithoutUnitLoops(linalg::GenericOp op) {
  SmallVector<AffineExpr> kept;
  for (auto [dim, range] : llvm::enumerate(op.getStaticLoopRanges()))
    kept.push_back(range == 1 ? getAffineConstantExpr(0, op.getContext())
                              : getAffineDimExpr(unsigned(dim), op.getContext()));
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    AffineMap without = map.replaceDimsAndSymbols(kept, {}, map.getNumDims(), 0);
    auto axes = llvm::zip_equal(without.getResults(), op.getShape(&operand));
    return llvm::all_of(axes, [](auto axis) {
      auto [position, size] = axis;
      return size == 1 || strideOf(position) > 0;
    });
  });
}

/// Inputs that are read at every n-th position become slices.
void sliceInputs(linalg::GenericOp op, IRRewriter &rewriter) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap &map = maps[input->getOperandNumber()];
    SmallVector<OpFoldResult> sizes = resolvedSizes(input->get(), rewriter), strides;
    SmallVector<AffineExpr> positions;
    for (auto [dim, position] : llvm::enumerate(map.getResults())) {
      int64_t stride = strideOf(position);
      strides.push_back(rewriter.getIndexAttr(std::max<int64_t>(stride, 1)));
      if (stride < 2) {
        positions.push_back(position);
        continue;
      }
      AffineExpr loop = cast<AffineBinaryOpExpr>(position).getLHS();
      sizes[dim] = rewriter.getIndexAttr(ranges[cast<AffineDimExpr>(loop).getPosition()]);
      positions.push_back(loop);
    }
    if (positions == SmallVector<AffineExpr>(map.getResults()))
      continue;
    map = AffineMap::get(map.getNumDims(), 0, positions, op.getContext());
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
    Value slice = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), input->get(), offsets,
                                                 sizes, strides);
    rewriter.modifyOpInPlace(op, [&] { input->set(slice); });
  }
  rewriter.modifyOpInPlace(op,
                           [&] { op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps)); });
}

/// Whether loops that inputs are read along at every n-th position have known sizes.
bool hasKnownStridedLoops(linalg::GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::all_of(map.getResults(), [&](AffineExpr position) {
      auto product = dyn_cast<AffineBinaryOpExpr>(position);
      return !product ||
             ShapedType::isStatic(ranges[cast<AffineDimExpr>(product.getLHS()).getPosition()]);
    });
  });
}

/// The contraction with plain maps: without loops of one iteration, and of slices where every n-th
/// element is read. Null where that is not enough.
linalg::GenericOp withPlainMaps(linalg::GenericOp op, IRRewriter &rewriter) {
  if (hasPlainMaps(op))
    return op;
  if (!isPointwiseWithoutUnitLoops(op))
    return {};
  rewriter.setInsertionPoint(op);
  auto dropped = linalg::dropUnitDims(rewriter, op, linalg::ControlDropUnitDims());
  if (succeeded(dropped)) {
    replace(op, dropped->replacements, rewriter);
    op = cast<linalg::GenericOp>(dropped->resultOp.getOperation());
  }
  if (!hasKnownStridedLoops(op))
    return {};
  rewriter.setInsertionPoint(op);
  sliceInputs(op, rewriter);
  return hasPlainMaps(op) ? op : linalg::GenericOp();
}

void collapse(linalg::GenericOp op, IRRewriter &rewriter) {
  if (!graph::matchContraction(op) || !hasSeveralSums(op) || !(op = withPlainMaps(op, rewriter)))
    return;
  auto parts = graph::matchContraction(op);
  if (!parts)
    return;
  AffineMap operand = op.getMatchingIndexingMap(op.getDpsInputOperand(parts->operands[0]));
  SmallVector<ReassociationIndices> sums = adjacentSums(op, operand);
  if (sums.empty())
    return;
  rewriter.setInsertionPoint(op);
  auto collapsed = linalg::collapseOpIterationDims(op, sums, rewriter);
  if (succeeded(collapsed))
    replace(op, collapsed->results, rewriter);
}

struct CollapseSums : impl::CollapseSumsBase<CollapseSums> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      collapse(op, rewriter);
  }
};

} // namespace
} // namespace tw
