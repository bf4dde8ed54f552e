// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that registers of half a multiprocessor's threads do not hold, brought into shared memory by
// TMA (`cp.async.bulk`). Either several blocks share a multiprocessor, each with the rows of its
// one program: one loads or stores while another computes, and rows are read from shared memory as
// often as the program goes through them. Or, where programs read more that is the same in all of
// them than of their own, one block keeps that in shared memory and runs one program after the
// other (ClaimedPrograms.h): its threads take the program's own rows into registers, and while they
// compute with them, those of a later program come to where these were.
#pragma once
#include "Target/NVIDIA/Emission/BlockShape.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Product/Emission/Instructions.h"
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {

/// Loads that begin together, and where each lies behind the place of the first one, in bytes.
struct BulkPart {
  void add(tile::LoadOp op);

  llvm::SmallVector<tile::LoadOp> loads;
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// What is loaded so, and what shared memory has: what is kept, a stage for each of some programs'
/// own loads, a barrier for each of these, and numbers of programs that the block runs next.
struct BulkPlan {
  BulkPart own;       // of one program
  BulkPart kept;      // the same in all programs, which a block loads once
  int64_t stages = 1; // for the own loads of so many programs
  BlockShape shape;
  int64_t blocks = 0; // of a multiprocessor

  bool keeps() const { return !kept.loads.empty(); }
  int64_t firstBarrier() const { return kept.bytes + stages * own.bytes; }
  int64_t barriers() const { return stages + (keeps() ? 1 : 0); }
  int64_t firstNumber() const;
  /// One is written for each stage while those of the stages before are read.
  int64_t numbers() const { return keeps() ? 2 * stages : 0; }
  static constexpr int64_t numberBytes = 4;
  int64_t sharedBytes() const;
};

/// The loads of whole rows whose places follow from the program's number; nothing where they are
/// short, registers hold them, or shared memory has no room.
std::optional<BulkPlan> planBulkLoads(tile::KernelOp kernel, const Width &width,
                                      const GpuArchitecture &architecture);

/// Whether a block can keep so many bytes that all programs read beside those of a program's own.
bool hasRoomToKeep(int64_t kept, int64_t own, const GpuArchitecture &architecture);
/// Whether so many programs are enough for that.
bool areEnoughToKeep(int64_t programs, const GpuArchitecture &architecture);

class BulkLoads {
public:
  /// `shared`: a pointer to the block's shared memory.
  BulkLoads(Emitter &e, const BulkPlan &plan, mlir::Value shared)
      : e(e), plan(plan), at(e.b, e.loc, shared) {}
  BulkLoads(const BulkLoads &) = delete;
  const BulkPlan &getPlan() const { return plan; }

  void initBarriers() const;
  /// Emits what the thread does that begins loads, if `condition` (missing: always).
  void byOneThread(mlir::Value condition, llvm::function_ref<void()> body) const;
  /// By one thread: begins the own loads of the program whose coordinates the emitter knows, which
  /// is the block's number `turn` (i32, from 0 on). Nobody reads what lay in its stage any more.
  void begin(mlir::Value turn) const;
  /// By one thread: begins the loads of what the block keeps.
  void beginKept() const;
  /// Waits for the own loads of the block's program `turn`, from when on their tiles are read where
  /// they lie.
  void take(mlir::Value turn) const;
  /// Each thread takes what it needs of them into registers; behind it, their stage is free.
  mlir::LogicalResult hold() const;
  /// The same for what the block keeps.
  void takeKept() const;

private:
  mlir::Value stageOf(mlir::Value turn) const;
  mlir::Value offsetOf(mlir::Value stage) const;
  mlir::Value barrierOf(mlir::Value stage) const;
  mlir::Value keptBarrier() const;
  void beginPart(const BulkPart &part, mlir::Value offset, mlir::Value barrier) const;
  void load(tile::LoadOp op, mlir::Value offset, mlir::Value barrier) const;
  void readFrom(const BulkPart &part, mlir::Value offset) const;

  Emitter &e;
  const BulkPlan &plan;
  Instructions at;
};

} // namespace tw::target::nvidia
