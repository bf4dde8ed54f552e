// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much of a tile a thread of the plain lowering computes at one time.
#pragma once
#include "IR/Tile/Tile.h"
#include <optional>

namespace tw::target::nvidia {

/// Of one access to memory, at most.
inline constexpr int64_t accessBytes = 16;

struct Width {
  /// Neighbours along the last dimension, which are read and written by one instruction.
  int64_t neighbours = 1;
  /// Points of a tile that may stay in registers.
  int64_t held = 0;
  /// Points of the largest tile, where the extents of all are known.
  std::optional<int64_t> largestTile = 1;
  /// Whether no operation takes neighbours along the last dimension apart.
  bool isRowByRow = true;
  /// Rows of the largest tile, where a program reduces several: threads go through all of them
  /// together, each with the same columns of every row, so that what rows share is read once.
  int64_t rows = 1;
};

Width widthOf(tile::KernelOp kernel);

/// What an operation costs for an element, in simple ones: functions are dozens of them, divisions
/// and roots some.
int64_t ownCost(mlir::Operation *op);

} // namespace tw::target::nvidia
