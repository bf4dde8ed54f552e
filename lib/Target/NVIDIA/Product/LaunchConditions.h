// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must hold of sizes known only at the call, so that the tensor cores can take a kernel: the
// host looks before each launch, and launches the plain lowering where it does not.
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::target::nvidia {

struct LaunchConditions {
  struct Range {
    mlir::Value begin, end;
  };
  /// Buffers whose rows must be multiples of tmaAlignment bytes.
  llvm::SmallVector<mlir::Value> alignedRows;
  /// What loops run over, scalars that are known at the launch: at least one trip.
  llvm::SmallVector<Range> loops;
  /// Buffers that must have elements, where no loop says so: a tensor map describes none without.
  llvm::SmallVector<mlir::Value> filled;

  bool empty() const { return alignedRows.empty() && loops.empty() && filled.empty(); }
  void addAlignedRows(mlir::Value buffer);
  /// Nothing to look at where all sizes are constants.
  void addFilled(mlir::Value buffer);
  /// For remarks: "if ...".
  std::string text() const;
};

/// Whether a scalar of a kernel depends on nothing but sizes and scalar arguments.
bool isKnownAtLaunch(mlir::Value scalar);

} // namespace tw::target::nvidia
