// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of the sums, in the registers where they are: `evaluate` gives the elements of the
// tile that is stored, of which the sums at the same point are known. Tiles of 16-bit elements go
// out in pieces of 64 rows, through shared memory, by TMA, or by the threads where rows of the
// buffer are not aligned; others element by element.
#pragma once
#include "Target/NVIDIA/Product/Emission/WarpGroups.h"
#include "Target/NVIDIA/Product/TensorMaps.h"

namespace tw::target::nvidia {

class Epilogue {
public:
  /// `columns`: of the sums.
  Epilogue(Emitter &e, const Instructions &at, const WarpGroup &group, const SumsFragment &fragment,
           int64_t columns, const StorePlan &plan, mlir::ValueRange maps)
      : e(e), b(e.b), loc(e.loc), at(at), group(group), fragment(fragment), columns(columns),
        plan(plan), maps(maps) {}

  /// `pieces`: of each store.
  mlir::LogicalResult emit(llvm::ArrayRef<SumsStore> stores, llvm::ArrayRef<StoredPieces> pieces);

private:
  Point pointOf(const SumsStore &store, int64_t block, int64_t number);
  mlir::LogicalResult inRow(int64_t block, int64_t number,
                            llvm::function_ref<mlir::LogicalResult()> body);
  mlir::LogicalResult storeElements(const SumsStore &store);
  mlir::LogicalResult storeElementsOfRow(const SumsStore &store, int64_t block, bool isSecond);
  mlir::LogicalResult storeRows(const SumsStore &store);
  mlir::LogicalResult storePieces(const SumsStore &store, const StoredPieces &pieces,
                                  int64_t firstPiece, int64_t allPieces);
  mlir::LogicalResult fillPiece(const SumsStore &store, const Chunk &chunk, int64_t block,
                                mlir::Value offset);
  void storePiece(const SumsStore &store, const Chunk &chunk, int64_t block, mlir::Value map,
                  mlir::Value offset);
  Ix rowInTile(mlir::Value row, int64_t block);
  mlir::LogicalResult copyPiece(const SumsStore &store, const Chunk &chunk, int64_t block,
                                mlir::Value offset);
  mlir::LogicalResult copyGroup(const SumsStore &store, const Chunk &chunk, int64_t block,
                                mlir::Value offset, mlir::Value number, int64_t each);
  void waitForBuffer(int64_t piece, int64_t allPieces);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Instructions &at;
  const WarpGroup &group;
  const SumsFragment &fragment;
  int64_t columns;
  StorePlan plan;
  // Where pieces of some stores are copied, as many stores by TMA are not as many buffers.
  bool isAnyCopied = false, isAnyByTma = false;
  llvm::SmallVector<mlir::Value> maps;
};

} // namespace tw::target::nvidia
