// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of accesses before a kernel runs.
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::target {

/// The box of a load or a store.
struct BoxAccess {
  mlir::Operation *op;
  mlir::Value buffer;
  mlir::OperandRange positions;
  llvm::ArrayRef<int64_t> strides;
  std::vector<Size> extents;
};

/// Empty for other operations.
std::optional<BoxAccess> boxOf(mlir::Operation *op);

/// Whether every element of the box is inside the buffer along `dim`, whatever the symbols are.
bool isSurelyInside(tile::KernelOp kernel, const BoxAccess &box, unsigned dim);

/// Whether `value` gets to `sinks`, of one block, through elementwise operations alone, and to
/// nothing else.
bool reachesOnlyElementwise(mlir::Value value,
                            const llvm::SmallPtrSetImpl<mlir::Operation *> &sinks);

} // namespace tw::target
