// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes of shape that move no element: tensor.collapse_shape and tensor.expand_shape.
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// `tensor` (row-major) with `sizes`, which hold as many elements. Groups of dimensions that are
/// known to match become one collapse and one expand; the tensor itself when nothing changes.
Tensor reshape(Lowering &ctx, const Tensor &tensor, mlir::ArrayRef<mlir::OpFoldResult> sizes);

/// The sizes a view asks for, with -1 replaced by what remains of the tensor's elements.
llvm::SmallVector<mlir::OpFoldResult> resolveSizes(Lowering &ctx, const Tensor &tensor,
                                                   mlir::ArrayRef<mlir::OpFoldResult> sizes);

/// The same for a group of dimensions that hold `elements`.
llvm::SmallVector<mlir::OpFoldResult> resolveSizes(Lowering &ctx, mlir::OpFoldResult elements,
                                                   mlir::ArrayRef<mlir::OpFoldResult> sizes);

/// Dimensions [first, last] as one.
Tensor flatten(Lowering &ctx, const Tensor &tensor, int64_t first, int64_t last);
/// A new dimension of size 1 before `dim`; the dimension `dim` (of size 1) removed.
Tensor unsqueeze(Lowering &ctx, const Tensor &tensor, int64_t dim);
Tensor squeeze(Lowering &ctx, const Tensor &tensor, int64_t dim);

} // namespace tw::lower
