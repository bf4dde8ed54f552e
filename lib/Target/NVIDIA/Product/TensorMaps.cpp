// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Product/TensorMaps.h"

using namespace mlir;

namespace tw::target::nvidia {

static constexpr int64_t pieceRows = 64, elementBytes = 2, narrowestChunk = 16;

static MapPlan mapOf(const ProductOperand &operand, const OperandTile &tile) {
  tile::LoadOp load = operand.load;
  auto rank = cast<tile::BufferType>(load.getBuffer().getType()).getRank();
  MapPlan map{load.getBuffer(), SmallVector<int64_t>(size_t(rank), 1), tile.swizzle};
  map.box[operand.freeDim] = operand.isSumInnermost ? tile.outer : tile.chunkColumns;
  map.box[operand.sumDim] = operand.isSumInnermost ? tile.chunkColumns : tile.outer;
  return map;
}

/// Whether TMA can do a store: a plain box of 16-bit floats whose columns are contiguous.
static bool isStoredByTma(tile::KernelOp kernel, const Product &product, ProductStore of) {
  tile::StoreOp store = of.store;
  auto type = cast<RankedTensorType>(store.getTile().getType());
  std::string why;
  return (type.getElementType().isF16() || type.getElementType().isBF16()) && !store.getMask() &&
         !store.getUpdate() && of.columnDim + 1 == type.getRank() &&
         product.columns % narrowestChunk == 0 &&
         llvm::all_of(store.getStrides(), [](int64_t stride) { return stride == 1; }) &&
         llvm::none_of(store.getPositions(),
                       [](Value at) { return isa<RankedTensorType>(at.getType()); }) &&
         canUseTensorMap(kernel, store.getBuffer(), why);
}

static StoredPieces piecesOf(const Product &product, ProductStore of, std::vector<MapPlan> &maps) {
  StoredPieces pieces{SharedTile(pieceRows, product.columns, elementBytes).chunks(), {}};
  for (const Chunk &chunk : pieces.chunks) {
    MapPlan map{of.store.getBuffer(), SmallVector<int64_t>(of.store.getPositions().size(), 1),
                chunk.swizzle};
    map.box[of.rowDim] = pieceRows;
    map.box[of.columnDim] = chunk.columns;
    auto known = llvm::find_if(maps, [&](const MapPlan &other) {
      return other.buffer == map.buffer && other.box == map.box;
    });
    pieces.maps.push_back(unsigned(known - maps.begin()));
    if (known == maps.end())
      maps.push_back(map);
  }
  return pieces;
}

ProductMaps mapsOf(tile::KernelOp kernel, const Product &product, const ProductPlan &plan) {
  ProductMaps maps;
  maps.all = {mapOf(product.a, plan.a), mapOf(product.b, plan.b)};
  for (const ProductStore &store : product.stores)
    maps.stores.push_back(isStoredByTma(kernel, product, store) ? piecesOf(product, store, maps.all)
                                                                : StoredPieces{});
  return maps;
}

} // namespace tw::target::nvidia
