// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that a block of threads of the plain lowering runs: one after the other, as many at
// a time as stand side by side, each with its own part of the workspace and of shared memory.
#pragma once
#include "Target/NVIDIA/Emission/BlockShape.h"
#include "Target/NVIDIA/Emission/BulkLoads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tw::target::nvidia {

/// Makes the coordinates of program `number` of a grid, row-major, known to the emitter.
void setProgram(Emitter &e, Ix number, const Indices &grid);

/// The loop over the programs of a block, while `isProgram` holds of the number that is the first
/// of what it carries. `body` ends with what goes on, the next number first.
mlir::LogicalResult overPrograms(Emitter &e, mlir::ValueRange carried,
                                 llvm::function_ref<mlir::Value(mlir::Value)> isProgram,
                                 llvm::function_ref<mlir::LogicalResult(mlir::ValueRange)> body);

class PlainPrograms {
public:
  /// `shared` (a pointer of its address space) and `workspace`: of all programs; it begins with the
  /// counter of the launch where programs are claimed.
  PlainPrograms(Emitter &e, const BlockShape &shape, mlir::Value shared, mlir::Value workspace)
      : e(e), b(e.b), loc(e.loc), shape(shape), shared(shared), workspace(workspace) {}

  /// `sharedLimit`: of a block.
  mlir::LogicalResult emit(const Indices &grid, const std::optional<BulkPlan> &plan,
                           int64_t sharedLimit);
  int64_t sharedBytes() const { return e.mostSharedBytes * shape.programs; }

private:
  void setThread();
  mlir::Value partOf(mlir::Value all, const Ix &number, mlir::arith::MulIOp &offset);
  mlir::LogicalResult emitPrograms(const Indices &grid, const BulkLoads *loads);

  Emitter &e;
  mlir::OpBuilder &b;
  mlir::Location loc;
  BlockShape shape;
  mlir::Value shared, workspace;
  Ix beside = 0;                  // the number of the program among those side by side
  mlir::Value first, count, step; // of programs
};

} // namespace tw::target::nvidia
