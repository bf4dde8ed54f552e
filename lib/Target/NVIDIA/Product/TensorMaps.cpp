// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/TensorMaps.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t elementBytes = 2, narrowestChunk = 8;

MapPlan mapOf(const ProductOperand &operand, const OperandTile &tile) {
  tile::LoadOp load = operand.load;
  auto rank = cast<tile::BufferType>(load.getBuffer().getType()).getRank();
  MapPlan map{load.getBuffer(), SmallVector<int64_t>(size_t(rank), 1), tile.swizzle};
  map.box[operand.freeDim] = operand.isSumInnermost ? tile.loaded : tile.chunkColumns;
  map.box[operand.sumDim] = operand.isSumInnermost ? tile.chunkColumns : tile.loaded;
  return map;
}

/// Whether a store goes out in pieces: a plain box of 16-bit floats whose columns are contiguous.
static bool isStoredInPieces(const SumsStore &of, int64_t columns) {
  tile::StoreOp store = of.store;
  auto type = cast<RankedTensorType>(store.getTile().getType());
  return isHalf(type.getElementType()) && !store.getMask() && !store.getUpdate() && of.columnDim &&
         *of.columnDim + 1 == type.getRank() && columns % narrowestChunk == 0 &&
         llvm::all_of(store.getStrides(), [](int64_t stride) { return stride == 1; }) &&
         llvm::none_of(store.getPositions(),
                       [](Value at) { return isa<RankedTensorType>(at.getType()); });
}

static StoredPieces piecesOf(const SumsStore &of, int64_t rows, int64_t columns,
                             const StorePlan &plan, std::vector<MapPlan> &maps) {
  tile::StoreOp store = of.store;
  SharedTile tile(pieceRows, columns, elementBytes, plan.columns * elementBytes);
  StoredPieces pieces{tile.chunks(), {}};
  std::string why;
  if (!canUseTensorMap(store.getBuffer(), why))
    return pieces;
  for (const Chunk &chunk : pieces.chunks) {
    MapPlan map{store.getBuffer(), SmallVector<int64_t>(store.getPositions().size(), 1),
                chunk.swizzle};
    map.box[of.rowDim] = rows;
    map.box[*of.columnDim] = chunk.columns;
    auto known = llvm::find_if(maps, [&](const MapPlan &other) {
      return other.buffer == map.buffer && other.box == map.box;
    });
    pieces.maps.push_back(unsigned(known - maps.begin()));
    if (known == maps.end())
      maps.push_back(map);
  }
  return pieces;
}

std::vector<StoredPieces> piecesOf(ArrayRef<SumsStore> stores, int64_t rows, int64_t columns,
                                   const StorePlan &plan, std::vector<MapPlan> &maps) {
  std::vector<StoredPieces> all;
  for (const SumsStore &store : stores)
    all.push_back(isStoredInPieces(store, columns) ? piecesOf(store, rows, columns, plan, maps)
                                                   : StoredPieces{});
  return all;
}

ProductMaps mapsOf(const Product &product, const ProductPlan &plan) {
  ProductMaps maps;
  maps.all = {mapOf(product.a, plan.a), mapOf(product.b, plan.b)};
  for (MapPlan &map : maps.all)
    map.roundsToTF32 = product.element.isF32();
  maps.stores = piecesOf(product.stores, std::min(product.tileRows, pieceRows), product.columns,
                         plan.store, maps.all);
  return maps;
}

} // namespace tw::target::nvidia
