// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ring of stages in shared memory. Each has two barriers: `full`, whose phase ends when TMA has
// brought what belongs there, and `empty`, whose phase ends when all warp groups have used it.
#pragma once
#include "Target/NVIDIA/Product/Emission/Instructions.h"
#include "Target/NVIDIA/Product/ProductPlan.h"

namespace tw::target::nvidia {

class StageRing {
public:
  StageRing(const Instructions &at, const RingPlan &plan) : at(at), plan(plan) {}

  /// Where in the ring somebody is: stage, and the parity of how often it has gone round; both i32.
  struct Slot {
    mlir::Value stage, parity;
  };

  /// By one thread; so many warp groups use each stage.
  void initBarriers(int64_t users) const;
  Slot advance(const Slot &slot) const;
  /// So many stages further, no more than there are; i32.
  Slot advanceBy(const Slot &slot, mlir::Value count) const;
  /// So many stages further; i32.
  Slot skip(const Slot &slot, mlir::Value count) const;
  /// Of what is in a stage.
  mlir::Value offset(mlir::Value stage) const;

  /// By the thread that loads: waits until the stage is free, and says how many bytes come. TMA
  /// reports to the barrier that this returns.
  mlir::Value fill(const Slot &slot, mlir::Value bytes) const;
  mlir::Value fill(const Slot &slot, int64_t bytes) const { return fill(slot, at.i32(bytes)); }
  void waitUntilFull(const Slot &slot) const;
  /// Gives a stage back; one thread of each warp group. `users`: of so many (i32; null: of one).
  void release(mlir::Value stage, mlir::Value isLeader, mlir::Value users = {}) const;

private:
  mlir::Value full(mlir::Value stage) const;
  mlir::Value empty(mlir::Value stage) const;
  const Instructions &at;
  RingPlan plan;
};

} // namespace tw::target::nvidia
