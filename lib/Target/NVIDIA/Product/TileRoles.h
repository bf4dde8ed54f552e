// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where what depends on sums in registers runs along their rows and columns, so that a thread can
// compute it at the elements that it has.
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Product/SumsStore.h"

namespace tw::target::nvidia {

/// What a dimension of a tile runs along: rows of sums, columns of those that are stored, or
/// columns of a first product, which are the terms that a second one sums up.
enum class Along : uint8_t { Nothing, Rows, Columns, Terms };
using Roles = llvm::SmallVector<Along, 4>;

/// Whether a thread can compute the elements that it has of what `op` makes from the same ones of
/// the operands, or from memory; also scalars and terminators.
bool isOfSingleElements(mlir::Operation *op);

class TileRoles {
public:
  void set(mlir::Value tile, Roles roles) { known[tile] = std::move(roles); }
  /// Null for a tile that depends on no sums.
  const Roles *of(mlir::Value tile) const;
  bool runsAlong(mlir::Value tile, Along what) const;

  /// Finds the roles of what `op` makes; false, and why, where threads would need elements of
  /// others: reductions are along rows only.
  bool follow(mlir::Operation *op, std::string &why);

  /// The stores of a kernel, each of which depends on sums, row by row. `hasOneRow`: which may be
  /// in any dimension then.
  bool findStores(tile::KernelOp kernel, std::vector<SumsStore> &stores, std::string &why,
                  bool hasOneRow = false) const;

private:
  bool followElementwise(mlir::Operation *op, Roles &result) const;
  llvm::DenseMap<mlir::Value, Roles> known;
};

} // namespace tw::target::nvidia
