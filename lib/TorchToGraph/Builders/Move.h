// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data movement whose positions are known from sizes: transpose, slice, pad, concatenate.
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Dimension i of the result is dimension permutation[i] of the tensor.
Tensor permute(Lowering &ctx, const Tensor &tensor, llvm::ArrayRef<int64_t> permutation);
Tensor transpose(Lowering &ctx, const Tensor &tensor, int64_t a, int64_t b);

/// Elements start, start + step, ... of dimension `dim`, `length` of them; all must be inside.
Tensor slice(Lowering &ctx, const Tensor &tensor, int64_t dim, mlir::OpFoldResult start,
             mlir::OpFoldResult length, int64_t step = 1);
/// Writes `source` to positions start, start + step, ... of `dim`.
Tensor insertSlice(Lowering &ctx, const Tensor &source, const Tensor &into, int64_t dim,
                   mlir::OpFoldResult start, int64_t step = 1);

/// `value` around the tensor: low[i] before and high[i] after in dimension i, none negative.
Tensor pad(Lowering &ctx, const Tensor &tensor, llvm::ArrayRef<mlir::OpFoldResult> low,
           llvm::ArrayRef<mlir::OpFoldResult> high, const Scalar &value);

/// The tensors (at least one, equal dtypes) one after the other along `dim`.
Tensor concat(Lowering &ctx, llvm::ArrayRef<Tensor> tensors, int64_t dim);

} // namespace tw::lower
