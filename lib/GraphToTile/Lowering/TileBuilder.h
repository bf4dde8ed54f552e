// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates operations of tile programs, with the types that follow from their operands.
#pragma once
#include "IR/Tile/Tile.h"
#include "mlir/IR/Builders.h"

namespace tw::conversion {

/// The extents of a tile, one for each axis.
using Extents = std::vector<Size>;

inline bool isOne(const Size &extent) { return extent == Size(1); }

class TileBuilder {
public:
  TileBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  static Extents extentsOf(mlir::Value tile);
  static mlir::Type elementOf(mlir::Value tile);

  //===--- indices ------------------------------------------------------------===//
  mlir::Value index(const Size &size);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t factor);
  /// A scalar integer as an index; an index as i64.
  mlir::Value toIndex(mlir::Value scalar);
  mlir::Value toI64(mlir::Value index);

  //===--- scalars ------------------------------------------------------------===//
  mlir::Value constant(mlir::TypedAttr value);
  /// The number of this type, which is one of tiles: an integer, a float or i1.
  mlir::Value number(double value, mlir::Type type);

  using Tiles = llvm::SmallVector<mlir::Value>;

  //===--- tiles --------------------------------------------------------------===//
  mlir::Value full(mlir::Value scalar, const Extents &extents);
  /// i64: start, start + 1, ... along `axis`.
  mlir::Value iota(const Extents &extents, int axis, mlir::Value start);
  mlir::Value reshape(mlir::Value tile, const Extents &extents);
  /// To the same rank.
  mlir::Value broadcast(mlir::Value tile, const Extents &extents);
  mlir::Value transpose(mlir::Value tile, llvm::ArrayRef<int> permutation);
  mlir::Value extract(mlir::Value tile);
  /// The reduced axis stays, with extent 1.
  mlir::Value reduce(tile::ReduceKind kind, mlir::Value tile, int axis);
  /// The first `count` along an axis, sorted, and where they were.
  Tiles sort(mlir::Value tile, int axis, const Size &count, bool isDescending, bool isUnsigned);
  mlir::Value scan(tile::ScanKind kind, mlir::Value tile, int axis, bool isReverse);
  /// An operation of arith or math on tiles of one rank, which are broadcast to each other.
  /// `predicate`: of a comparison.
  mlir::Value elementwise(llvm::StringRef operation, llvm::ArrayRef<mlir::Value> operands,
                          mlir::Type element, mlir::Attribute predicate = {});
  /// i1, of tiles of i64.
  mlir::Value isLess(mlir::Value x, mlir::Value y);
  /// Both masks; a null one is everywhere true.
  mlir::Value both(mlir::Value mask, mlir::Value other);

  //===--- loops --------------------------------------------------------------===//
  using Body = llvm::function_ref<Tiles(mlir::Value index, mlir::ValueRange carried)>;
  using Combine = llvm::function_ref<Tiles(mlir::ValueRange first, mlir::ValueRange second)>;
  /// `combine`: how the states of two consecutive parts of the range become one; null: there is no
  /// such way.
  tile::ForOp loop(mlir::Value begin, mlir::Value end, mlir::Value step, mlir::ValueRange inits,
                   Body body, Combine combine = nullptr);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace tw::conversion
