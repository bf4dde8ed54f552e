// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that registers do not hold, brought into shared memory by TMA (`cp.async.bulk`). Several
// blocks share a multiprocessor, each with the rows of its one program: one loads or stores while
// another computes, and rows are read from shared memory as often as the program goes through them.
#pragma once
#include "Target/NVIDIA/Emission/BlockShape.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Product/Emission/Instructions.h"
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {

/// What is loaded so, and where it lies in the block's shared memory, in bytes.
struct BulkPlan {
  llvm::SmallVector<tile::LoadOp> loads;
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes;       // of all loads
  int64_t sharedBytes; // with the barrier behind them
  BlockShape shape;
  int64_t blocks; // of a multiprocessor
};

/// The loads of whole rows whose places follow from the program's number; nothing where they are
/// short, registers hold them, or fewer than two blocks have room.
std::optional<BulkPlan> planBulkLoads(tile::KernelOp kernel, const Width &width,
                                      const GpuArchitecture &architecture);

class BulkLoads {
public:
  /// `shared`: a pointer to the block's shared memory.
  BulkLoads(Emitter &e, const BulkPlan &plan, mlir::Value shared);
  BulkLoads(const BulkLoads &) = delete;
  void initBarrier() const;
  /// Begins the loads of the program whose coordinates the emitter knows; by one thread. Nobody
  /// reads what the program before has loaded any more.
  void begin() const;
  /// Waits for them, from when on their tiles are read where they lie. `parity` (i32) is 0 for the
  /// block's first program, 1 for the next one, and so on.
  void take(mlir::Value parity) const;

private:
  mlir::Value barrier() const { return at.i32(plan.bytes); }
  void load(tile::LoadOp op, int64_t offset) const;

  Emitter &e;
  const BulkPlan &plan;
  Instructions at;
  llvm::SmallPtrSet<mlir::Operation *, 8> scalars; // that positions are computed from
};

} // namespace tw::target::nvidia
