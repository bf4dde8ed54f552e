// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of a product's kernel: a warp that fills a ring of stages by TMA, warp groups that
// multiply what is there, and the epilogue on the sums in their registers.
#pragma once
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Layout/Layout.h"
#include "Target/NVIDIA/Product/Instructions.h"
#include "Target/NVIDIA/Product/TensorMaps.h"

namespace tw::target::nvidia {

/// The programs that one block runs, one after the other.
struct BlockPrograms {
  mlir::Value first, end, step; // i64
  /// Makes the coordinates of a program known to the emitter.
  std::function<void(Ix)> number;
};

/// A position in the 32 bits that TMA has; further out is outside of every buffer, too.
mlir::Value tmaCoordinate(Emitter &e, Ix position);

class ProductEmitter {
public:
  /// `shared`: the block's shared memory, whose address is a multiple of 1024; `maps`: arguments.
  ProductEmitter(Emitter &e, const Product &product, const ProductPlan &plan,
                 const ProductMaps &plannedMaps, mlir::Value shared, mlir::ValueRange maps,
                 BlockPrograms programs);
  mlir::LogicalResult emit();

private:
  /// Where in the ring somebody is: stage, and the parity of how often it has gone round.
  struct Place {
    mlir::Value stage, parity;
  };

  // Ring.cpp
  void initBarriers();
  void setRegisters(bool isProducer);
  template <typename Body>
  mlir::scf::ForOp overPrograms(mlir::ValueRange carried, Body body);
  void emitScalars(mlir::Block &block);
  void produce();
  void loadOperand(const ProductOperand &operand, const OperandTile &tile, mlir::Value map,
                   mlir::Value offset, mlir::Value barrier);
  mlir::LogicalResult consume();
  void multiply(mlir::Value stage, llvm::SmallVectorImpl<mlir::Value> &sums, bool addsToSums);
  llvm::SmallVector<mlir::Value> sumUp(Place &place);
  void release(mlir::Value stage);
  Place advance(const Place &place);
  mlir::Value full(mlir::Value stage);
  mlir::Value empty(mlir::Value stage);

  // Epilogue.cpp
  mlir::LogicalResult epilogue(mlir::ValueRange sums);
  void findCoordinates();
  mlir::FailureOr<mlir::Value> valueAt(const ProductStore &store, int64_t block, int64_t number);
  mlir::LogicalResult storeElements(const ProductStore &store);
  mlir::LogicalResult storePieces(const ProductStore &store, const StoredPieces &pieces,
                                  int64_t firstPiece, int64_t allPieces);
  mlir::LogicalResult fillPiece(const ProductStore &store, const Chunk &chunk, int64_t block,
                                mlir::Value offset);
  void waitForBuffer(int64_t piece, int64_t allPieces);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  const Product &product;
  const ProductPlan &plan;
  const ProductMaps &plannedMaps;
  mlir::Value shared;
  llvm::SmallVector<mlir::Value> maps;
  BlockPrograms programs;
  Instructions at;

  // Of a consumer
  mlir::Value group;    // its number, i32
  mlir::Value inGroup;  // the thread's number in it, i32
  mlir::Value isLeader; // whether that is 0
  Layout layout;        // of 64 rows of sums
  /// The coordinates of register r of block m are rows[m][row of r] and columns[column of r].
  std::vector<std::map<int64_t, Ix>> rows;
  std::map<int64_t, Ix> columns;
};

} // namespace tw::target::nvidia
