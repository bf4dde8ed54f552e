// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Graph/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::graph {

static Value beforeWidening(Value value) {
  auto extend = value.getDefiningOp<arith::ExtFOp>();
  return extend ? extend.getIn() : value;
}

std::optional<ContractionParts> matchContraction(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1 || op.getNumDpsInputs() < 1)
    return std::nullopt;
  Block *body = op.getBlock();
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return std::nullopt;
  Value total = body->getArgument(op.getNumDpsInputs());
  Value term = sum->getOperand(sum->getOperand(0) == total ? 1 : 0);
  if (sum->getOperand(0) != total && sum->getOperand(1) != total)
    return std::nullopt;
  Operation *product = term.getDefiningOp();
  if (!product || !isa<arith::MulFOp, arith::MulIOp>(product) ||
      isa<arith::MulFOp>(product) != isa<arith::AddFOp>(sum))
    return std::nullopt;
  ContractionParts parts{{}, isa<arith::AddFOp>(sum)};
  for (auto [i, factor] : llvm::enumerate(product->getOperands())) {
    auto argument = dyn_cast<BlockArgument>(beforeWidening(factor));
    if (!argument || argument.getOwner() != body || argument == total)
      return std::nullopt;
    parts.operands[i] = argument.getArgNumber();
  }
  // Rows or columns that one operand alone has make it a contraction; else it is a reduction of an
  // elementwise product.
  AffineMap maps[] = {op.getMatchingIndexingMap(&op->getOpOperand(parts.operands[0])),
                      op.getMatchingIndexingMap(&op->getOpOperand(parts.operands[1]))};
  auto iterators = op.getIteratorTypesArray();
  for (unsigned dim = 0; dim < iterators.size(); ++dim)
    if (iterators[dim] == utils::IteratorType::parallel &&
        maps[0].isFunctionOfDim(dim) != maps[1].isFunctionOfDim(dim))
      return parts;
  return std::nullopt;
}

namespace {

/// The loops of an operation.
struct Loops {
  SmallVector<utils::IteratorType> kinds;
  SmallVector<int64_t> ranges;

  explicit Loops(linalg::LinalgOp op)
      : kinds(op.getIteratorTypesArray()), ranges(op.getStaticLoopRanges()) {}

  SmallVector<unsigned> in(AffineExpr position, utils::IteratorType kind) const {
    SmallVector<unsigned> found;
    for (unsigned loop = 0; loop < kinds.size(); ++loop)
      if (kinds[loop] == kind && position.isFunctionOfDim(loop))
        found.push_back(loop);
    return found;
  }

  /// Whether taps move a position along a longer sum.
  bool isWindow(AffineExpr position) const {
    auto sums = in(position, utils::IteratorType::reduction),
         taps = in(position, utils::IteratorType::parallel);
    return sums.size() == 1 && !taps.empty() && llvm::all_of(taps, [&](unsigned tap) {
             int64_t places = ranges[sums[0]];
             return !ShapedType::isDynamic(ranges[tap]) &&
                    (ShapedType::isDynamic(places) || ranges[tap] <= places);
           });
  }
};

} // namespace

bool sumsOverWindows(linalg::LinalgOp op) {
  if (!matchContraction(op))
    return false;
  Loops loops(op);
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    auto positions = op.getMatchingIndexingMap(operand).getResults();
    return llvm::any_of(positions, [&](AffineExpr p) { return loops.isWindow(p); });
  });
}

bool isProductOfWindows(linalg::LinalgOp op, int64_t least) {
  if (!sumsOverWindows(op))
    return false;
  Loops loops(op);
  auto parts = *matchContraction(op);
  AffineMap a = op.getMatchingIndexingMap(&op->getOpOperand(parts.operands[0])),
            b = op.getMatchingIndexingMap(&op->getOpOperand(parts.operands[1]));
  auto hasOwn = [&](AffineMap map, AffineMap other) {
    return llvm::any_of(map.getResults(), [&](AffineExpr position) {
      auto dim = dyn_cast<AffineDimExpr>(position);
      if (!dim || loops.kinds[dim.getPosition()] != utils::IteratorType::parallel ||
          other.isFunctionOfDim(dim.getPosition()))
        return false;
      int64_t range = loops.ranges[dim.getPosition()];
      return ShapedType::isDynamic(range) || range >= least;
    });
  };
  auto isRead = [&](AffineMap map) {
    return llvm::all_of(map.getResults(), [&](AffineExpr position) {
      return isa<AffineDimExpr>(position) || loops.isWindow(position);
    });
  };
  return hasOwn(a, b) && hasOwn(b, a) && isRead(a) && isRead(b);
}

} // namespace tw::graph
