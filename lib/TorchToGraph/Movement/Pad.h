// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What padding and its gradients share: how much, and which element a position stands for.
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Padding of each dimension, before and after; those the operator does not name have 0.
struct Paddings {
  llvm::SmallVector<mlir::OpFoldResult> low, high;
  int64_t first = 0; // the first dimension that is named
};

/// From PyTorch's list, which starts with the last dimension: before, after, before, ...
Paddings readPaddings(Lowering &ctx, llvm::StringRef argument, int64_t rank);

/// The sizes of `self` after padding; none may be negative.
llvm::SmallVector<mlir::OpFoldResult> paddedSizes(Lowering &ctx, const Tensor &self,
                                                  const Paddings &paddings);

/// Where what is added comes from: mirrored at the first and last element, those repeated, or from
/// the other end.
enum class PadMode { Reflect, Replicate, Circular };

/// Refuses paddings of dimensions of `sizes` for which the mode finds no element.
void checkPaddings(Lowering &ctx, PadMode mode, llvm::ArrayRef<mlir::OpFoldResult> sizes,
                   const Paddings &paddings);

/// Where position `x` (from -low to size + high) of a dimension is read, clamped into it.
mlir::Value sourcePosition(mlir::OpBuilder &b, mlir::Location loc, PadMode mode, mlir::Value x,
                           mlir::Value size);

} // namespace tw::lower
