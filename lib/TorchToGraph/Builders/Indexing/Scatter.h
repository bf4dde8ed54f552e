// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes at positions that come from data, as one tw.scatter.
#pragma once
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Indexing/Gather.h"

namespace tw::lower {

/// As GatherBody, inside a tw.scatter.
struct ScatterBody : GatherBody {
  /// The position in dimension `dim` of the iteration space (index).
  mlir::Value position(int64_t dim) const;
};

/// One write: safe coordinates, one a dimension of the destination, and a value of its dtype.
struct Update {
  llvm::SmallVector<mlir::Value> coordinates;
  mlir::Value value;
};

/// What one point of the iteration space writes; the elements are those of the inputs there.
using ScatterFn = llvm::function_ref<Update(ScatterBody &body, mlir::ValueRange elements)>;

/// `into` after one update a point of `sizes`, in row-major order. The inputs (at least one) are
/// placed in the iteration space as in gatherPlaced.
Tensor scatter(Lowering &ctx, const Tensor &into, graph::Combine combine,
               llvm::ArrayRef<mlir::OpFoldResult> sizes, llvm::ArrayRef<PlacedInput> inputs,
               ScatterFn body);

/// As scatter, adding, multiplying, ... in opmath of `into`'s dtype: rounds once, at the end. The
/// body yields values of that dtype.
Tensor scatterWide(Lowering &ctx, const Tensor &into, graph::Combine combine,
                   llvm::ArrayRef<mlir::OpFoldResult> sizes, llvm::ArrayRef<PlacedInput> inputs,
                   ScatterFn body);

/// A tensor of zeros.
Tensor zeros(Lowering &ctx, llvm::ArrayRef<mlir::OpFoldResult> sizes, DType dtype);

} // namespace tw::lower
