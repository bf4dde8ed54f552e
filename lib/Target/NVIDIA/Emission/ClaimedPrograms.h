// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that the blocks of a launch claim, one after the other, where each block keeps in shared
// memory what all programs read (BulkLoads.h): multiprocessors are not equally fast, and one that
// is slower runs fewer of them. A block begins with programs that follow from its number, one for
// each stage. One thread claims what comes behind these by adding to a counter of the launch, a
// program ahead of those whose loads begin, so nobody waits for the number. Numbers have 32 bits,
// as threads have few registers beside their rows.
#pragma once
#include "Target/NVIDIA/Emission/BulkLoads.h"

namespace tw::target::nvidia {

/// The programs that one block begins with are `first`, `first + step`, ...; of `count` (i64).
struct ProgramRange {
  mlir::Value first, count, step;
};

class ClaimedPrograms {
public:
  /// `counter`: a word (i32) of the launch's workspace, which is 0 when the launch begins.
  ClaimedPrograms(Emitter &e, const BulkLoads &loads, const Indices &grid,
                  const ProgramRange &programs, mlir::Value counter, mlir::Value shared)
      : e(e), b(e.b), loc(e.loc), at(e.b, e.loc, shared), loads(loads), grid(grid),
        first(narrow(programs.first)), count(narrow(programs.count)), step(narrow(programs.step)),
        counter(counter) {}
  ClaimedPrograms(const ClaimedPrograms &) = delete;
  mlir::LogicalResult emit();

private:
  int64_t stages() const { return loads.getPlan().stages; }
  mlir::Value narrow(mlir::Value number);
  void setProgram(mlir::Value number);
  mlir::Value isProgram(mlir::Value number);
  mlir::Value placeOf(mlir::Value turn);
  void setNumber(mlir::Value turn, mlir::Value number);
  void beginLoads(mlir::Value number, mlir::Value turn);
  void beginFirst();
  mlir::Value claim(mlir::Value condition, mlir::Value otherwise,
                    llvm::function_ref<void()> before);
  mlir::LogicalResult emitProgram(mlir::Value number, mlir::Value turn, mlir::Value counted);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  Instructions at;
  const BulkLoads &loads;
  const Indices &grid;
  mlir::Value first, count, step; // as numbers
  mlir::Value counter;
};

} // namespace tw::target::nvidia
