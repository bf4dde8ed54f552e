// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The address of a vector of elements: where a load, gather or store touches its buffer at a point,
// and which lanes are inside it.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

/// Where an access touches its buffer: element `index` (+ lane * laneStride), if `mask`.
struct VectorAddress {
  Ix index = 0;
  mlir::Value indices;                 // a vector that comes in addition, of positions from data
  llvm::SmallVector<mlir::Value> each; // the same as scalars, for the lanes that count
  llvm::SmallVector<int64_t> offsets;  // of the lanes, in addition
  Ix laneStride = 0;
  mlir::Value mask;
  mlir::Value
      condition; // one for all lanes: beyond the buffer nothing may be touched, masked or not
};

/// What accesses have in common.
struct Box {
  mlir::Operation *op;
  mlir::Value buffer;
  mlir::OperandRange positions;
  llvm::ArrayRef<int64_t> strides;
  mlir::Value mask;
  bool isGather = false; // positions are tiles of the result's shape

  /// Where the position along `d` is in its tile.
  Point pointIn(const Point &point, unsigned d, bool isLane) const {
    return isGather ? point : Point{{point.at[d]}, isLane ? 0 : -1, point.step};
  }
};

/// Where the elements of a box at a point are.
mlir::FailureOr<VectorAddress> vectorAddress(Emitter &e, const Box &box, const Point &point);

} // namespace tw::target::cpu
