// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hopper's asynchronous instructions as a builder has them: mbarriers, TMA, wgmma, stmatrix. All
// addresses are offsets in the block's shared memory, i32.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tw::target::nvidia {

/// On what multiplies and what takes sums out: which sums, as a number. Simulated code finds by it
/// what is read before it has been waited for.
inline constexpr char sumsAttribute[] = "sums";

class Instructions {
public:
  Instructions(mlir::OpBuilder &b, mlir::Location loc, mlir::Value shared)
      : b(b), loc(loc), shared(shared) {}

  mlir::Value i32(int64_t value) const;
  mlir::Value bit(bool value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value add(mlir::Value x, int64_t y) const;
  mlir::Value mul(mlir::Value x, int64_t y) const;
  mlir::Value div(mlir::Value x, int64_t y) const;
  mlir::Value rem(mlir::Value x, int64_t y) const;
  mlir::Value bitXor(mlir::Value x, mlir::Value y) const;
  mlir::Value equal(mlir::Value x, int64_t y) const;
  /// x < y, both without a sign.
  mlir::Value isBelow(int64_t x, mlir::Value y) const;
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) const;
  /// Emits what only threads do for which `condition` holds.
  void when(mlir::Value condition, llvm::function_ref<void()> body) const;
  /// Of shared memory.
  mlir::Value pointer(mlir::Value offset) const;

  void initBarrier(mlir::Value offset, int64_t arrivals) const;
  /// As so many (i32; null: as one).
  void arrive(mlir::Value barrier, mlir::Value count = {}) const;
  void arriveExpecting(mlir::Value barrier, mlir::Value bytes) const;
  /// Until the phase with this parity has ended.
  void waitFor(mlir::Value barrier, mlir::Value parity) const;
  /// Of one warp group, by a named barrier.
  void groupBarrier(mlir::Value id) const;
  /// A warp group waits at a named barrier until another one has come, too: by this.
  void waitForGroup(mlir::Value id) const;
  void comeForGroup(mlir::Value id) const;
  /// So many warp groups wait at a named barrier for each other, or come there without waiting.
  void waitForGroups(int64_t id, int64_t count) const;
  void comeForGroups(int64_t id, int64_t count) const;

  void prefetchMap(mlir::Value map) const;
  /// Coordinates are innermost first.
  void loadTile(mlir::Value offset, mlir::Value map, mlir::ValueRange coordinates,
                mlir::Value barrier) const;
  /// So many bytes, contiguous from the address `from` on; all multiples of 16.
  void loadBytes(mlir::Value offset, mlir::Value from, int64_t bytes, mlir::Value barrier) const;
  void storeTile(mlir::Value map, mlir::Value offset, mlir::ValueRange coordinates) const;

  /// What wgmma's descriptor says of an address.
  mlir::Value descriptor(mlir::Value offset, int64_t fields) const;
  mlir::Type sumsType(int64_t columns) const;
  struct Multiply {
    mlir::Type element; // f32: rounded to tf32, with the sum innermost in both operands
    int64_t columns;
    bool isSumInnermostInA, isSumInnermostInB, addsToSums;
    int64_t sums = 0; // which, for those who read them
  };
  mlir::Value multiply(const Multiply &what, mlir::Value a, mlir::Value b, mlir::Value sums) const;
  /// The same with the left operand, 64 x 16, in four registers of each thread.
  struct MultiplyRegisters {
    mlir::Type element;
    int64_t columns;
    int64_t sums;
    mlir::Value addsToSums; // i32; always where it is missing
    bool isSumInnermostInB = false;
  };
  mlir::Value multiplyRegisters(const MultiplyRegisters &what, mlir::ValueRange a, mlir::Value b,
                                mlir::Value sums) const;
  /// Element `number` of sums `which`, whose products have been waited for.
  mlir::Value sum(mlir::Value sums, int64_t number, int64_t which = 0) const;
  /// Sums from their elements.
  mlir::Value sumsOf(mlir::ValueRange elements) const;
  /// Two values of 16 bits in a register.
  mlir::Value packed(mlir::Value low, mlir::Value high) const;
  /// Four 8 x 8 matrices of 16-bit elements, two in each of `registers`.
  void storeMatrices(mlir::Value offset, mlir::ValueRange registers) const;

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value shared;
};

} // namespace tw::target::nvidia
