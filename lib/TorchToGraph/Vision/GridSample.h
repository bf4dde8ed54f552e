// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sampling at positions that a grid of coordinates in [-1, 1] names: what the operator and its
// gradients share.
#pragma once
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Vision/Taps.h"

namespace tw::lower {

// The numbers PyTorch gives them.
enum class Interpolation : int64_t { Linear = 0, Nearest = 1, Cubic = 2 };
enum class Padding : int64_t { Zeros = 0, Border = 1, Reflection = 2 };

/// How input [n, c, spatial...] is sampled at grid [n, out..., coordinates].
struct GridSampling {
  Tensor input, grid;
  Interpolation interpolation;
  Padding padding;
  bool alignCorners;
  llvm::SmallVector<mlir::Value> inputSizes;         // the spatial ones, index values
  llvm::SmallVector<mlir::OpFoldResult> outputSizes; // the spatial ones

  int64_t spatial() const { return int64_t(inputSizes.size()); }
  /// How many taps a sample has along each spatial dimension.
  int64_t tapCount() const;
};

/// The arguments input, grid, interpolation_mode, padding_mode and align_corners; empty when they
/// were refused.
std::optional<GridSampling> readGridSampling(Lowering &ctx);

/// The coordinate in spatial dimension `dim` of the grid's place at `position` [n, out...], in
/// `e`'s dtype: the grid holds those of the last dimension first.
mlir::Value coordinateAt(const GatherBody &body, const Element &e, const GridSampling &sampling,
                         llvm::ArrayRef<mlir::Value> position, int64_t dim);
/// The taps along spatial dimension `dim` of a sample at `coordinate`, and the same with the
/// derivatives of their weights by the coordinate; nearest elements have no derivatives.
Taps tapsAt(const Element &e, const GridSampling &sampling, mlir::Value coordinate, int64_t dim);
Taps slopesAt(const Element &e, const GridSampling &sampling, mlir::Value coordinate, int64_t dim);

} // namespace tw::lower
