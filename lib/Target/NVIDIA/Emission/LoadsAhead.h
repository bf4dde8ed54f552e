// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of programs of which a multiprocessor has room for one: TMA brings what the next two
// programs of the block load into shared memory while this one runs, so that memory is never idle.
#pragma once
#include "Target/NVIDIA/Emission/BlockShape.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Product/Emission/StageRing.h"

namespace tw::target::nvidia {

/// Where what is loaded ahead lies in shared memory: two stages, each with all loads, and barriers.
struct AheadPlan {
  llvm::SmallVector<tile::LoadOp> loads;
  llvm::SmallVector<int64_t> offsets; // in a stage
  RingPlan ring;
  int64_t sharedBytes; // of all that
};

/// The loads of whole rows whose places follow from the program's number; nothing where a
/// multiprocessor runs several blocks of the shape, or there is no room.
std::optional<AheadPlan> planAhead(tile::KernelOp kernel, const BlockShape &shape,
                                   const GpuArchitecture &architecture);

class LoadsAhead {
public:
  using Slot = StageRing::Slot;

  /// `shared`: a pointer to the block's shared memory.
  LoadsAhead(Emitter &e, const AheadPlan &plan, mlir::Value shared);
  LoadsAhead(const LoadsAhead &) = delete;
  void initBarriers() const;
  Slot firstSlot() const { return {at.i32(0), at.i32(0)}; }
  Slot next(const Slot &slot) const { return ring.advance(slot); }
  /// Begins the loads of a program, if `isProgram`. `setNumber` makes its coordinates known to the
  /// emitter.
  void begin(const Slot &slot, mlir::Value isProgram, llvm::function_ref<void()> setNumber) const;
  /// The tiles of the program that runs now can be read.
  void take(const Slot &slot) const;
  /// Whether registers hold all that a program loads.
  bool areHeld() const;
  /// Reads all of it to registers, so that the stage is free before the program has computed
  /// anything. From then on nothing is read from the stage.
  mlir::LogicalResult hold() const;
  /// All threads have read them.
  void release(const Slot &slot) const;

private:
  mlir::Value isLeader() const;
  void load(tile::LoadOp op, mlir::Value offset, mlir::Value barrier) const;

  Emitter &e;
  AheadPlan plan;
  Instructions at;
  StageRing ring;
  llvm::SmallPtrSet<mlir::Operation *, 8> scalars; // that positions are computed from
};

} // namespace tw::target::nvidia
