// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes whose positions along one dimension are data, the other coordinates being those
// of the index tensor: what gather, scatter and sort have in common.
#pragma once
#include "TorchToGraph/Builders/Indexing/Scatter.h"

namespace tw::lower {

/// The current position in each of `rank` dimensions.
template <typename Body>
llvm::SmallVector<mlir::Value> positions(const Body &body, int64_t rank) {
  llvm::SmallVector<mlir::Value> result;
  for (int64_t d = 0; d < rank; ++d)
    result.push_back(body.position(d));
  return result;
}

/// A tensor without dimensions as a vector of one; others as they are.
Tensor atLeastVector(Lowering &ctx, const Tensor &tensor);
/// `tensor` as a tensor without dimensions when `like` is one.
Tensor withRankOf(Lowering &ctx, const Tensor &tensor, const Tensor &like);

/// result[i, j, k] = self[i, index[i, j, k], k] for dim 1. Indices do not wrap. Refuses ranks that
/// differ, unless the index is empty; it may be smaller than self in the other dimensions.
Tensor gatherAlong(Lowering &ctx, const Tensor &self, int64_t dim, const Tensor &index);

/// Checks that `index` is as small as `self` in all dimensions but `dim`. Both have dimensions.
void requireInside(Lowering &ctx, const Tensor &self, int64_t dim, const Tensor &index);

/// self after self[i, index[i, j, k], k] = combine(that, value) at all positions of the index, for
/// dim 1. `source` is a tensor at least as large as the index, or a number. Sums and products are
/// rounded once.
Tensor scatterAlong(Lowering &ctx, const Tensor &self, int64_t dim, const Tensor &index,
                    const Operand &source, graph::Combine combine);

} // namespace tw::lower
