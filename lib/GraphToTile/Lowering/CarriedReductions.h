// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a loop over chunks of rows carries of a reduction.
#pragma once
#include "GraphToTile/Lowering/TileBuilder.h"

namespace tw::conversion {

/// One reduction: of an extreme's coordinate the extreme is carried, too, of a sum of floats what
/// rounding lost, so that it is as exact as the sums of chunks (Knuth, TAOCP 2, 4.2.2).
struct CarriedReduction {
  tile::ReduceKind kind; // of the value
  bool hasPosition;      // of the greatest or least element, which is carried behind the value
  mlir::Type element;    // of the value
  Extents extents;       // of the result

  using States = llvm::SmallVector<mlir::Value, 2>;

  size_t stateCount() const { return hasPosition || hasError() ? 2 : 1; }
  /// The states of no elements.
  States neutral(TileBuilder &b) const;
  /// Of a chunk: its value, and the position of an extreme in it; `first`: where the chunk begins.
  States ofChunk(TileBuilder &b, mlir::ValueRange reduced, mlir::Value first) const;
  /// Of two parts, one behind the other.
  States combined(TileBuilder &b, mlir::ValueRange first, mlir::ValueRange second) const;
  /// Whether the parts may come in any order: of equal extremes the first counts.
  bool isCommutative() const { return !hasPosition; }
  /// The value, and the position.
  States results(TileBuilder &b, mlir::ValueRange states) const;

private:
  bool hasError() const {
    return kind == tile::ReduceKind::Sum && mlir::isa<mlir::FloatType>(element);
  }
};

} // namespace tw::conversion
