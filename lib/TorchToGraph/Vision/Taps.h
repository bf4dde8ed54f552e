// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weighted reads around a computed coordinate: what resampling and grid sampling share.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// One position along a dimension that a sample reads.
struct Tap {
  mlir::Value index;  // of type index, always inside of the dimension
  mlir::Value weight; // null: 1
  mlir::Value inside; // i1; the tap counts only where it holds. Null: everywhere
};
using Taps = llvm::SmallVector<Tap, 4>;

/// Index arithmetic in bodies.
struct BodyIndex {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value constant(int64_t value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value min(mlir::Value x, mlir::Value y) const;
  mlir::Value max(mlir::Value x, mlir::Value y) const;
  /// min(max(x, 0), size - 1).
  mlir::Value clamp(mlir::Value x, mlir::Value size) const;
  /// 0 <= x < size.
  mlir::Value isInside(mlir::Value x, mlir::Value size) const;
  /// An index as an element of `e`, and a float truncated to an index (far outside for what no
  /// index can hold).
  mlir::Value toFloat(const Element &e, mlir::Value index) const;
  mlir::Value fromFloat(const Element &e, mlir::Value x) const;
};

/// The weights of the four taps at -1, 0, 1, 2 around a place that is `t` in [0, 1] behind tap 0:
/// cubic convolution with a = -0.75.
llvm::SmallVector<mlir::Value> cubicWeights(const Element &e, mlir::Value t);
/// Their derivatives by t.
llvm::SmallVector<mlir::Value> cubicSlopes(const Element &e, mlir::Value t);

/// The weighted sum of the elements at all combinations of the taps. `position` is the whole
/// position; its last `taps.size()` entries are replaced by the taps'. Computed in `e`'s dtype.
mlir::Value sumOfTaps(const Element &e, const Tensor &tensor, llvm::ArrayRef<mlir::Value> position,
                      llvm::ArrayRef<Taps> taps);

} // namespace tw::lower
