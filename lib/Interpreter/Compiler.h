// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a kernel with bound symbols to steps: places of values, shapes and dtypes are looked up
// once.
#pragma once
#include "IR/Tile/Tile.h"
#include "Interpreter/Machine.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tw::interpreter {

/// The dtype of an element, of a tile's elements or of a scalar; an index is i64.
DType dtypeOf(mlir::Type type);

/// The value of a scalar attribute in the form of cells.
Cell cellOf(mlir::Attribute value);

/// The extents of a tile under bound symbols; of a scalar none.
struct Shape {
  llvm::SmallVector<int64_t> extents;
  int64_t count = 1;
};

class Compiler {
public:
  Compiler(const Size::Values &symbols, const Options &options)
      : symbols(symbols), options(options) {}

  /// The steps of a block, without its terminator.
  Steps compile(mlir::Block &block);
  /// Where the value of an SSA value is.
  int slot(mlir::Value value) { return slots.try_emplace(value, int(slots.size())).first->second; }
  llvm::SmallVector<int> slotsOf(mlir::ValueRange values) {
    return llvm::map_to_vector(values, [&](mlir::Value value) { return slot(value); });
  }
  int slotCount() const { return int(slots.size()); }
  Shape shapeOf(mlir::Type type);
  int64_t valueOf(tile::SizeAttr size);
  /// The number of the kernel's argument that `buffer` is.
  static int bufferOf(mlir::Value buffer) {
    return int(llvm::cast<mlir::BlockArgument>(buffer).getArgNumber());
  }
  /// Remembers the first error, where the operation that is compiled stands.
  void fail(Code code, std::string message);

  /// Sums that a loop carries on unrounded: docs/tile-programs.md, "Numbers".
  bool isUnrounded(mlir::Value value) const { return unrounded.contains(value); }
  /// Whether the loop only adds to its carried value `k`; such sums are noted to be unrounded.
  bool findSum(tile::ForOp loop, unsigned k);

  std::optional<Diagnostic> problem;
  /// What is to be said of loops after the run.
  std::vector<std::function<void(Run &)>> afterwards;

private:
  Step compile(mlir::Operation *op);

  const Size::Values &symbols;
  const Options &options;
  mlir::Operation *current = nullptr;
  llvm::DenseMap<mlir::Value, int> slots;
  llvm::DenseSet<mlir::Value> unrounded;
};

// One for each operation, in the file of its group.
Step makeLoad(tile::LoadOp op, Compiler &compiler);
Step makeStore(tile::StoreOp op, Compiler &compiler);
Step makeGather(tile::GatherOp op, Compiler &compiler);
Step makeScatter(tile::ScatterOp op, Compiler &compiler);
Step makeCheck(tile::CheckOp op, Compiler &compiler);
Step makeConstant(mlir::Operation *op, Compiler &compiler);
Step makeElementwise(mlir::Operation *op, Compiler &compiler);
Step makeProgramId(tile::ProgramIdOp op, Compiler &compiler);
Step makeSize(tile::SizeOp op, Compiler &compiler);
Step makeFull(tile::FullOp op, Compiler &compiler);
Step makeIota(tile::IotaOp op, Compiler &compiler);
Step makeBroadcast(tile::BroadcastOp op, Compiler &compiler);
Step makeTranspose(tile::TransposeOp op, Compiler &compiler);
Step makeSlice(tile::SliceOp op, Compiler &compiler);
Step makeReshape(tile::ReshapeOp op, Compiler &compiler);
Step makeExtract(tile::ExtractOp op, Compiler &compiler);
Step makeDot(tile::DotOp op, Compiler &compiler);
Step makeReduce(tile::ReduceOp op, Compiler &compiler);
Step makeScan(tile::ScanOp op, Compiler &compiler);
Step makeSort(tile::SortOp op, Compiler &compiler);
Step makeFor(tile::ForOp op, Compiler &compiler);
Step makeIf(mlir::Operation *op, Compiler &compiler);

} // namespace tw::interpreter
