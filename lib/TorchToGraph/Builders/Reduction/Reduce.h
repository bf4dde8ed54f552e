// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over dimensions as linalg.fill + linalg.generic; the reduced dimensions iterate last.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"

namespace tw::lower {

/// What is reduced, over which dimensions (ascending), and whether those stay with size 1.
struct ReduceSpace {
  Tensor input;
  llvm::SmallVector<int64_t> dims;
  bool keepDim = false;
};

/// Where the body of a reduction is: builder, place, and the position along a dimension.
struct ReduceBody {
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::ArrayRef<int64_t> loopOfDim; // input dimension -> loop

  /// The position in dimension `dim` of the input, an index.
  mlir::Value position(int64_t dim) const;
};

/// Several accumulators at once. `initial` are their values before the first element. The body
/// takes one element of the input and of each of `others` (which broadcast against the input; with
/// keepDim'd sizes), in their own dtypes, and the accumulators, and yields the new ones.
using ReduceFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    ReduceBody &body, mlir::ValueRange elements, mlir::ValueRange accumulators)>;
llvm::SmallVector<Tensor> reduceMany(Lowering &ctx, const ReduceSpace &space,
                                     llvm::ArrayRef<Tensor> others,
                                     llvm::ArrayRef<DType> accumulators,
                                     llvm::ArrayRef<mlir::Value> initial, ReduceFn body);

/// One accumulator of dtype `accumulate` that starts as `initial(e)`; elements are cast to it,
/// then `body(e, {accumulator, element, others...})` gives the new one.
using InitialFn = llvm::function_ref<mlir::Value(Element &e)>;
Tensor reduce(Lowering &ctx, const ReduceSpace &space, DType accumulate, InitialFn initial,
              ElementFn body, llvm::ArrayRef<Tensor> others = {});

/// The sum in dtype `accumulate`.
Tensor reduceSum(Lowering &ctx, const ReduceSpace &space, DType accumulate);
/// The greatest or smallest element, NaN if there is one.
Tensor reduceMax(Lowering &ctx, const ReduceSpace &space);
Tensor reduceMin(Lowering &ctx, const ReduceSpace &space);
/// The mean in opmath of the input's dtype; summed in `accumulate` where that is given.
Tensor reduceMean(Lowering &ctx, const ReduceSpace &space,
                  std::optional<DType> accumulate = std::nullopt);
/// Sum of squared differences from `mean`, which has the input's rank (kept dimensions), in
/// `accumulate` or else opmath.
Tensor reduceSquares(Lowering &ctx, const ReduceSpace &space, const Tensor &mean,
                     std::optional<DType> accumulate = std::nullopt);

/// How many elements are reduced into one.
mlir::OpFoldResult reducedCount(Lowering &ctx, const ReduceSpace &space);
/// All dimensions of a tensor.
llvm::SmallVector<int64_t> allDims(const Tensor &tensor);
/// New dimensions of size 1, which are then those at `dims`; and the reverse.
Tensor insertUnitDims(Lowering &ctx, const Tensor &tensor, llvm::ArrayRef<int64_t> dims);
Tensor dropUnitDims(Lowering &ctx, const Tensor &tensor, llvm::ArrayRef<int64_t> dims);

} // namespace tw::lower
