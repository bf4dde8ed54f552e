// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tensor maps a kernel on the tensor cores is launched with: one for each way in which TMA
// reads or writes a buffer.
#pragma once
#include "Target/NVIDIA/Product/Product.h"
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {

struct MapPlan {
  mlir::Value buffer;             // an argument of the tile.kernel
  llvm::SmallVector<int64_t> box; // along each dimension of the buffer
  Swizzle swizzle;
  bool roundsToTF32 = false; // elements of f32
};

/// A store of 16-bit elements that go out through shared memory: in chunks of columns, by TMA, for
/// which those of one width have one map, or by the threads, where its rows are not aligned.
struct StoredPieces {
  std::vector<Chunk> chunks;  // of 64 rows of the block
  std::vector<unsigned> maps; // for each chunk, its number among all maps; none: by threads

  bool areCopied() const { return !chunks.empty() && maps.empty(); }
};

/// How TMA reads an operand, in boxes of a chunk of columns.
MapPlan mapOf(const ProductOperand &operand, const OperandTile &tile);

/// For each store that goes out in pieces these, whose maps are added to `maps`; no chunks where
/// threads store elements from their registers. `columns`: of the sums; `rows`: of a piece.
std::vector<StoredPieces> piecesOf(llvm::ArrayRef<SumsStore> stores, int64_t rows, int64_t columns,
                                   const StorePlan &plan, std::vector<MapPlan> &maps);
inline constexpr int64_t pieceRows = 64;

struct ProductMaps {
  std::vector<MapPlan> all; // of operand a, of b, then of stores
  std::vector<StoredPieces> stores;
};
ProductMaps mapsOf(const Product &product, const ProductPlan &plan);

} // namespace tw::target::nvidia
