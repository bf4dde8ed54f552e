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

} // namespace tw::graph
