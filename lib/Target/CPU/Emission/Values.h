// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where elements are while code is emitted: in a tile, a buffer, memory of the thread, registers.
#pragma once
#include "Target/Common/Index/Index.h"

namespace tw::target::cpu {

/// A place in a tile: a coordinate along each dimension. Along `lane` (-1: none) it stands for
/// `Emitter::lanes` places, `step` apart.
struct Point {
  Indices at;
  int lane = -1;
  int64_t step = 1;
};

/// A buffer of the caller.
struct Buffer {
  mlir::Value base;
  Indices sizes, strides;     // in elements
  mlir::Type element;         // as in memory
  bool isNonTemporal = false; // written past the caches
};

/// A tile in memory of the thread, row-major.
struct Memory {
  mlir::Value base;
  Indices strides;
  mlir::Type element;
};

/// A tile of static extents in registers: row-major, the last dimension in vectors of `lanes`
/// (1: in scalars).
struct Registers {
  unsigned lanes = 1;
  llvm::SmallVector<mlir::Value> parts;
};

/// Numbers that lanes hold: a scalar, and what each lane has besides.
struct BasePlusLaneOffsets {
  Ix base;
  llvm::SmallVector<int64_t> offsets;

  bool isSame() const { return llvm::all_equal(offsets); }
  /// What they are, where the base is a constant.
  llvm::SmallVector<int64_t> numbers() const {
    llvm::SmallVector<int64_t> all = offsets;
    for (int64_t &number : all)
      number += *base.constant();
    return all;
  }
};

} // namespace tw::target::cpu
