// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of indices in self[i, :, j]: which dimensions of self come from tensors, and what shape
// results. Shared by reading (index) and writing (index_put).
#pragma once
#include "TorchToGraph/Builders/Indexing/Gather.h"

namespace tw::lower {

/// Indices given as a list with None for whole dimensions.
struct IndexList {
  Tensor self;
  llvm::SmallVector<std::optional<Tensor>> indices; // one a dimension of self
  /// The sizes of self[indices]: the broadcast indices' dimensions stand where the indices stand
  /// when those are next to each other, else in front; the whole dimensions follow in order.
  llvm::SmallVector<mlir::OpFoldResult> space;
  int64_t first = 0;                     // of the broadcast indices' dimensions in the space
  int64_t count = 0;                     // how many those are
  llvm::SmallVector<int64_t> spaceDim;   // a whole dimension's place in the space; -1 if indexed
  llvm::SmallVector<mlir::Value> bounds; // the sizes of self
  bool clamps = false;                   // indices outside are brought to the nearest inside

  /// The index tensors, placed in the space.
  llvm::SmallVector<PlacedInput> inputs() const;

  /// The position in self of a point of the space, inside a body whose first elements are those of
  /// inputs(). Negative indices count from the end.
  template <typename Body>
  llvm::SmallVector<mlir::Value> coordinates(const Body &body, mlir::ValueRange elements) const {
    llvm::SmallVector<mlir::Value> result;
    for (int64_t d = 0, next = 0; d < self.rank(); ++d) {
      if (indices[d])
        result.push_back(
            body.safeIndex(index(body, d, elements[next++]), DType::I64, bounds[d], d));
      else
        result.push_back(body.position(spaceDim[d]));
    }
    return result;
  }

private:
  /// An element of the index of dimension `d` as i64.
  mlir::Value index(const GatherBody &body, int64_t d, mlir::Value element) const;
};

/// True for the tensors that select elements by truth instead of position.
inline bool isMask(const Tensor &index) {
  return index.dtype == DType::Bool || index.dtype == DType::U8;
}

/// The list of argument "indices", which may be shorter than self's rank. Refuses masks, floats and
/// lists that are too long.
IndexList indexList(Lowering &ctx, const Tensor &self);

} // namespace tw::lower
