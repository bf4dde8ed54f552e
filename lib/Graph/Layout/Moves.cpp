// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/Layout/Moves.h"

using namespace mlir;

namespace tw {

std::optional<Move> asMove(Operation *op) {
  auto linalg = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalg || linalg.getNumDpsInputs() != 1 || linalg.getNumDpsInits() != 1 ||
      linalg.getNumReductionLoops() != 0 || linalg.hasIndexSemantics())
    return std::nullopt;
  Block *body = linalg.getBlock();
  if (body->getTerminator()->getOperand(0) != body->getArgument(0) ||
      !isa<RankedTensorType>(linalg.getDpsInputs()[0].getType()))
    return std::nullopt;
  AffineMap in = linalg.getMatchingIndexingMap(linalg.getDpsInputOperand(0)),
            out = linalg.getMatchingIndexingMap(linalg.getDpsInitOperand(0));
  if (!out.isPermutation() || !in.isProjectedPermutation(/*allowZeroInResults=*/true))
    return std::nullopt;
  return Move{linalg, in.compose(inversePermutation(out))};
}

} // namespace tw
