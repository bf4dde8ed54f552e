// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A persistent block of threads whose first warps load and whose warp groups multiply: what its
// kernels on the tensor cores have in common.
#pragma once
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Layout/Layout.h"
#include "Target/NVIDIA/Product/Emission/Instructions.h"
#include "Target/NVIDIA/Product/Operand.h"
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {

/// The programs that one block runs, one after the other.
struct BlockPrograms {
  mlir::Value first, end, step; // i64
  /// Makes the coordinates of a program known to the emitter; whether its trips are dealt to warp
  /// groups, while other ones stand beside the programs that follow (i1; null: none are).
  std::function<mlir::Value(Ix)> number;
};

/// A position in the 32 bits that TMA has; further out is outside of every buffer, too.
mlir::Value tmaCoordinate(Emitter &e, Ix position);

/// A warp group that multiplies, as its threads see it.
struct WarpGroup {
  mlir::Value number;   // i32
  mlir::Value rowGroup; // which of those that share a program's rows, i32
  mlir::Value thread;   // the thread's number in it, i32
  mlir::Value isLeader;
};

/// The elements of sums that a thread has: their coordinates in a program's tile. Each is one
/// value, by which the emitter knows a point again. Columns are neighbours of two
/// (Emitter::neighboursFrom), which are read from memory together.
class SumsFragment {
public:
  /// `columns`: of the widest sums; `tileRows`: those that the tile has, if these are fewer than
  /// the fragment's.
  SumsFragment(int64_t columns, int64_t blocksOfGroup,
               std::optional<int64_t> tileRows = std::nullopt)
      : widest(columns), blocks(blocksOfGroup), tileRows(tileRows) {}
  void findCoordinates(Emitter &e, const WarpGroup &group);

  int64_t blocksOfGroup() const { return blocks; }
  /// Of register `number` of 64 rows.
  Ix row(int64_t block, int64_t number) const;
  Ix column(int64_t number) const;
  /// Whether the tile has the row of a register; null: surely. Else `row` is another one of it.
  mlir::Value hasRow(int64_t block, int64_t number) const;
  /// The first register of each row of the thread; the row's others are in the same column pairs.
  static bool isOfSecondRow(int64_t number) { return number / 2 % 2 != 0; }

private:
  void placeRow(Emitter &e, int64_t block, int64_t offset, Ix row);
  int64_t widest, blocks;
  std::optional<int64_t> tileRows;
  std::vector<std::map<int64_t, Ix>> rows;
  std::vector<std::map<int64_t, mlir::Value>> inTile;
  std::map<int64_t, Ix> columns;
  std::vector<std::pair<int64_t, int64_t>> offsets; // of each register
};

class WarpGroupsEmitter {
public:
  WarpGroupsEmitter(Emitter &e, mlir::Value shared, mlir::ValueRange maps, BlockPrograms programs,
                    int64_t warpGroups)
      : e(e), b(e.b), loc(e.loc), maps(maps), programs(std::move(programs)), at(e.b, e.loc, shared),
        warpGroups(warpGroups) {}
  virtual ~WarpGroupsEmitter() = default;
  mlir::LogicalResult emit();

protected:
  virtual void initBarriers() = 0;
  /// What the one thread of loading warp `warp` does.
  virtual void load(int64_t warp) = 0;
  /// None: warp groups load themselves.
  virtual int64_t loadingWarps() const = 0;
  virtual mlir::LogicalResult multiplyAll() = 0;
  /// Whether multiplyAll lets the next launch begin.
  virtual bool isTriggerLate() const { return false; }
  void letNextLaunchBegin();

  /// Changes the coordinates of a program to those of who emits; `isDealt`: BlockPrograms::number.
  virtual void placeProgram(mlir::Value /*isDealt*/) {}
  /// Runs `body(carried)`, which returns what is carried on, for each program of the block.
  template <typename Body>
  mlir::scf::ForOp overPrograms(mlir::ValueRange carried, Body body) {
    auto loop =
        mlir::scf::ForOp::create(b, loc, programs.first, programs.end, programs.step, carried);
    Emitter::Scope scope(e);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    placeProgram(programs.number(Ix(loop.getInductionVar())));
    emitScalars(e.kernel.getBody().front());
    llvm::SmallVector<mlir::Value> next = body(loop.getRegionIterArgs());
    mlir::scf::YieldOp::create(b, loc, next);
    return loop;
  }
  /// Scalars of a block of the tile program; every thread computes those that it uses.
  void emitScalars(mlir::Block &block);
  void loadOperand(const ProductOperand &operand, const OperandTile &tile, mlir::Value map,
                   mlir::Value offset, mlir::Value barrier);
  /// Warp groups take turns to begin products, the first one first.
  void takeTurn();
  void passTurn();
  mlir::Value movedBy(mlir::Value descriptor, int64_t bytes);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SmallVector<mlir::Value> maps;
  BlockPrograms programs;
  Instructions at;
  int64_t warpGroups;
  WarpGroup group; // of those that multiply

private:
  void setRegisters(bool isLoading);
  mlir::LogicalResult multiplyAs(const WarpGroup &own);
};

} // namespace tw::target::nvidia
