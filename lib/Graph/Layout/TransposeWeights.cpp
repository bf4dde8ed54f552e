// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-transpose-weights (Passes.td).
#include "Graph/Passes.h"
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_TRANSPOSEWEIGHTS
#include "Graph/Passes.h.inc"

namespace {

/// The order of the weight's dimensions that puts those of the output last: reduction dimensions
/// first, then parallel ones by where they stand in the output. Empty when nothing changes or when
/// the map does more than name dimensions.
SmallVector<unsigned> outputLastOrder(linalg::GenericOp op, AffineMap weightMap) {
  AffineMap outputMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!weightMap.isProjectedPermutation() || !outputMap.isProjectedPermutation())
    return {};
  SmallVector<std::pair<int64_t, unsigned>> ranked;
  auto iterators = op.getIteratorTypesArray();
  for (auto [position, expr] : llvm::enumerate(weightMap.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    auto inOutput = outputMap.getResultPosition(expr);
    if (iterators[dim] == utils::IteratorType::parallel && !inOutput)
      return {};
    ranked.push_back({inOutput ? int64_t(*inOutput) : -1, unsigned(position)});
  }
  // Batch dimensions of the output (those every operand has) stay in front by their rank; the
  // reduction goes directly before the output's last dimension.
  SmallVector<unsigned> order(weightMap.getNumResults());
  llvm::sort(ranked);
  for (auto [i, entry] : llvm::enumerate(ranked))
    order[i] = entry.second;
  if (llvm::is_sorted(order))
    return {};
  return order;
}

/// The same bytes with dimensions in another order.
graph::WeightOp permuted(graph::WeightOp weight, ArrayRef<unsigned> order, OpBuilder &b) {
  auto type = cast<RankedTensorType>(weight.getType());
  graph::WeightAttr source = weight.getSource();
  SmallVector<int64_t> sizes, strides;
  for (unsigned d : order) {
    sizes.push_back(type.getDimSize(d));
    strides.push_back(source.getStrides()[d]);
  }
  auto attr =
      graph::WeightAttr::get(b.getContext(), source.getName(), source.getFile(), source.getOffset(),
                             source.getBytes(), source.getStart(), strides);
  return graph::WeightOp::create(b, weight.getLoc(), type.clone(sizes), attr);
}

struct TransposeWeights : impl::TransposeWeightsBase<TransposeWeights> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::GenericOp op) {
      if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2 || op.getNumDpsInits() != 1)
        return;
      for (OpOperand *operand : op.getDpsInputOperands())
        transpose(op, operand);
    });
  }

  static void transpose(linalg::GenericOp op, OpOperand *operand) {
    auto weight = operand->get().getDefiningOp<graph::WeightOp>();
    if (!weight)
      return;
    AffineMap map = op.getMatchingIndexingMap(operand);
    SmallVector<unsigned> order = outputLastOrder(op, map);
    if (order.empty())
      return;
    OpBuilder b(weight);
    SmallVector<AffineExpr> results;
    for (unsigned d : order)
      results.push_back(map.getResult(d));
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps[operand->getOperandNumber()] =
        AffineMap::get(map.getNumDims(), 0, results, b.getContext());
    operand->set(permuted(weight, order, b));
    op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
    emitReport(op.getLoc()) << "weight " << weight.getSource().getName()
                            << " is stored with its output dimension last";
    if (weight->use_empty())
      weight->erase();
  }
};

} // namespace

} // namespace tw
