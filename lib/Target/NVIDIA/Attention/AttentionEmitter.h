// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of attention's kernel: a warp loads queries and keys, another one values, and warp
// groups of 64 rows each multiply. While one product runs, the weights of the next one are computed
// from scores in registers.
#pragma once
#include "Target/NVIDIA/Attention/Attention.h"
#include "Target/NVIDIA/Attention/AttentionPlan.h"
#include "Target/NVIDIA/Product/Emission/Epilogue.h"
#include "Target/NVIDIA/Product/Emission/StageRing.h"

namespace tw::target::nvidia {

struct AttentionMaps {
  std::vector<MapPlan> all; // of queries, keys, values, then of stores
  std::vector<StoredPieces> stores;
};
AttentionMaps mapsOf(const Attention &attention, const AttentionPlan &plan);

class AttentionEmitter : public WarpGroupsEmitter {
public:
  AttentionEmitter(Emitter &e, const Attention &attention, const AttentionPlan &plan,
                   const AttentionMaps &plannedMaps, mlir::Value shared, mlir::ValueRange maps,
                   BlockPrograms programs);

private:
  /// Between two trips: what the loops carry, the weights that are not multiplied yet, and where in
  /// the rings the next keys and those weights' values are.
  struct State {
    llvm::SmallVector<mlir::Value> rows;    // two for each carried value but the sums
    llvm::SmallVector<mlir::Value> weights; // in pairs
    llvm::SmallVector<mlir::Value> sums;
    mlir::Value addsToSums; // i32
    StageRing::Slot next, last;

    llvm::SmallVector<mlir::Value> flat() const;
    State with(mlir::ValueRange flat) const;
  };

  // AttentionEmitter.cpp
  void initBarriers() override;
  int64_t loadingWarps() const override { return plan.hasLoaders ? 2 : 0; }
  bool isTriggerLate() const override { return plan.isTriggerLate; }
  void load(int64_t warp) override;
  void loadQueries(const StageRing::Slot &slot);
  void loadQueriesBeside(const StageRing::Slot &slot);
  void loadProgram(const StageRing::Slot &query, const StageRing::Slot &key);
  void loadTrips(const AttentionPart &part, llvm::SmallVectorImpl<mlir::Value> &slot,
                 const StageRing &ring, const OperandTile &tile, bool isKeys);
  mlir::LogicalResult multiplyAll() override;
  mlir::Value multiplyKeys(mlir::Value queryStage, mlir::Value stage);
  mlir::Value multiplyValues(const State &state);
  void takeSums(State &state, mlir::Value sums);
  State firstTrip(mlir::Value queryStage, StageRing::Slot slot);
  void weighFirst(size_t part, mlir::Value scores, State &state);
  void loop(size_t part, mlir::Value queryStage, State &state);
  void trip(const AttentionPart &part, mlir::Value sumsBefore, mlir::Value queryStage,
            State &state);
  State allTrips(const StageRing::Slot &query, const StageRing::Slot &key);
  State anyTrips(const StageRing::Slot &query, const StageRing::Slot &key);
  bool mayHaveNoTrip() const { return attention.mayHaveNoTrip(plan.dealsTrips); }
  void finish(const State &state);
  void setResults(size_t part, State &state);

  // Dealing.cpp
  void placeProgram(mlir::Value isDealt) override;
  mlir::Value users() const;
  mlir::Value tripCount();
  /// Of this warp group.
  Ix firstTripOf(tile::ForOp loop);
  void evenTurns();
  void combineGroups(State &state);
  void give(const State &state);
  void take(int64_t from, State &state);
  mlir::Value combineOffset(int64_t from, int64_t number) const;
  /// Of this warp group's next trip.
  StageRing::Slot next(const StageRing::Slot &slot) const;
  void setTrip(const AttentionPart &part, const Ix &number);

  // Weights.cpp
  void findPartialRows();
  void findTermColumns();
  void readMasks(const AttentionPart &part);
  void weigh(const AttentionPart &part, mlir::Value scores, State &state);
  void reduce(tile::ReduceOp op);
  void reduceBefore(mlir::Operation *end);
  void scaleSums(const AttentionPart &part, mlir::Value sumsBefore, State &state);
  mlir::Value evaluate(mlir::Value tile, const Point &point);
  /// Of a tile with a number for each row.
  Point rowPoint(mlir::Value tile, int64_t number) const;
  /// Whether a thread's elements in the first (0) or second (1) row that it has are known by points
  /// of their own: where the tile has one row, that is the only one that is looked at.
  bool hasRow(int64_t row) const { return row == 0 || attention.tileRows > 1; }
  /// Whether a register is of a row; missing: of one that is looked at.
  bool isOfRow(int64_t number, std::optional<int64_t> row) const;
  void setSums(mlir::Value tile, mlir::ValueRange sums, std::optional<int64_t> row = std::nullopt);
  void evaluateSums(mlir::Value tile, llvm::MutableArrayRef<mlir::Value> sums,
                    std::optional<int64_t> row = std::nullopt);
  void setRows(const AttentionPart &part, mlir::ValueRange carried, mlir::ValueRange elements);
  void evaluateRows(const AttentionPart &part, mlir::ValueRange carried, State &state);
  mlir::Value ifTerm(int64_t number, mlir::Value value, mlir::Value otherwise);

  const Attention &attention;
  const AttentionPlan &plan;
  const AttentionMaps &plannedMaps;
  StageRing queries, keys, values;
  int64_t terms; // with those that are 0
  SumsFragment fragment;
  /// The column of each register of scores, within the tile; where some threads' are beyond,
  /// whether this thread's is inside.
  std::vector<Ix> termColumns;
  std::vector<mlir::Value> isTerm;
  bool hasFailed = false;
  /// Where trips are dealt: whether this program's are (i1); the number of this warp group's first
  /// trip; how many trips further its next one is; which of the queries side by side are its own.
  mlir::Value isDealt, firstTripNumber, tripStride, querySlot;
  /// Sums along rows that loops only add up: each thread keeps the sum over its own columns, and
  /// the four of a row are added after the loops. The reductions, and the numbers of what carries
  /// them.
  llvm::DenseSet<mlir::Operation *> partialSums;
  llvm::SmallDenseSet<unsigned> partialRows;
  /// Reductions at the kernel's top level are computed up to here.
  mlir::Block::iterator reduced;
};

} // namespace tw::target::nvidia
