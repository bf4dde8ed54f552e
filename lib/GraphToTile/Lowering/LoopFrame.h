// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that a loop program becomes, before its body: arguments, symbols, the grid; and the
// part of each loop dimension that the code being emitted has, which says what accesses read.
#pragma once
#include "GraphToTile/Analysis/Subkernels/LoopProgram.h"
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "GraphToTile/Lowering/TileBuilder.h"

namespace tw::conversion {

class LoopFrame {
public:
  /// Creates the kernel at the builder's insertion point, which then is in its body.
  LoopFrame(TileBuilder &b, llvm::StringRef name, const LoopProgram &program,
            const LoopConfiguration &configuration);

  tile::KernelOp kernel;

  //===--- dimensions ---------------------------------------------------------===//

  /// The elements of a dimension that tiles have now.
  struct DimPart {
    Size extent;
    mlir::Value first;    // coordinate of the first one
    bool isBlock = false; // of a grid: other programs have the rest
    bool hasEdge = false; // the last ones may lie beyond the dimension's end
  };
  std::vector<DimPart> parts;

  Size size(int dim) const { return sizeOf(program.dims[dim]); }
  /// The extents of a tile along `dims`, 1 along all others.
  Extents extentsOf(llvm::ArrayRef<int> dims) const;
  /// The coordinates along a dimension, i64.
  mlir::Value coordinates(int dim);
  /// Where the elements of a tile with these extents lie inside of their dimensions; null:
  /// everywhere.
  mlir::Value inside(const Extents &extents);

  //===--- memory -------------------------------------------------------------===//

  mlir::Value buffer(int number) { return kernel.getBlockArgument(unsigned(number)); }
  mlir::Value scalar(mlir::Value argument);

  /// What an access covers, with an axis for each dimension; `pad`: what it reads outside of the
  /// buffer, may be null.
  mlir::Value load(const Access &access, mlir::Value pad);
  void store(const Access &access, mlir::Value tile);
  /// Combines a tile, and what is there, to what is stored; null: the tile replaces it.
  using Combine = llvm::function_ref<mlir::Value(mlir::Value there, mlir::Value value)>;
  /// Stores a tile, with a position for each axis that runs along no dimension.
  void update(const Access &access, mlir::Value tile, llvm::ArrayRef<mlir::Value> positions,
              Combine combine);
  /// The same where positions are tiles: single elements, all of which are different ones. Axes
  /// that run along a dimension are plain.
  void updateElements(const Access &access, mlir::Value tile, llvm::ArrayRef<mlir::Value> positions,
                      Combine combine);

private:
  struct Box {
    llvm::SmallVector<mlir::Value> positions;
    Extents extents;
    llvm::SmallVector<int64_t> strides; // empty: all 1
  };
  Size sizeOf(const Extent &extent) const;
  void createKernel(llvm::StringRef name, const LoopConfiguration &configuration);
  /// Whether a dimension is cut into as many blocks as the first of sharedDims, along its axis of
  /// the grid.
  bool isAligned(int dim) const {
    return llvm::is_contained(sharedDims, dim) && dim != sharedDims[0];
  }
  Box boxOf(const Access &access);
  /// Whether a dimension is longer than the axis that is all of it: what is beyond that is 0.
  bool goesBeyond(const Access &access) const;
  mlir::Value asBox(const Access &access, const Box &box, mlir::Value tile);
  mlir::Value insideParts(const Access &access);

  TileBuilder &b;
  const LoopProgram &program;
  std::vector<int> sharedDims; // of parts side by side that are cut
};

} // namespace tw::conversion
