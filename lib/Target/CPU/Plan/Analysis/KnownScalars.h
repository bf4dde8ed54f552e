// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the scalars of a kernel, and elements of tiles of positions, can be in any program and
// iteration: constants, programs of a grid of constant size, loops with constant bounds, and what
// is computed from them. The emission knows the same of the values that it emits (IndexRanges.h).
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/Common/Index/IndexRanges.h"

namespace tw::target::cpu {

class KnownScalars {
public:
  explicit KnownScalars(tile::KernelOp kernel) : grid(kernel.getGrid()) {}

  /// What a scalar is in all programs; null where that is not known.
  mlir::Attribute known(mlir::Value scalar) const;
  /// The same of an integer.
  std::optional<int64_t> constant(mlir::Value scalar) const;

  /// Nothing where it is not known, or where bounds are beyond 2^30.
  std::optional<Range> range(mlir::Value scalar) const { return range(scalar, {}, 0); }

  /// The same of the element of a tile with every coordinate 0 or, `atEnd`, the last.
  std::optional<Range> elementRange(mlir::Value tile, bool atEnd) const {
    return range(tile, atEnd, 0);
  }

private:
  mlir::Attribute computed(mlir::Value scalar) const;
  /// The same of the element of a tile that has one.
  mlir::Attribute onlyElement(mlir::Value tile) const;
  mlir::Attribute foldedTo(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands) const;
  std::optional<Range> range(mlir::Value value, std::optional<bool> atEnd, int depth) const;
  std::optional<Range> rangeOfTile(mlir::Value tile, bool atEnd, int depth) const;
  std::optional<Range> rangeOfVariable(tile::ForOp loop, int depth) const;
  /// How often a loop runs, where that is known.
  std::optional<int64_t> tripCount(tile::ForOp loop) const;

  mlir::ArrayAttr grid;
  mutable llvm::DenseMap<mlir::Value, mlir::Attribute>
      values; // of scalars that have been asked for
};

} // namespace tw::target::cpu
