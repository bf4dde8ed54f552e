// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that move elements of one tensor and compute nothing: transposes, broadcasts, copies.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace tw {

struct Move {
  mlir::linalg::LinalgOp op;
  /// From the axes of its result to those of its input; 0 along an axis of size 1.
  mlir::AffineMap source;

  mlir::Value input() { return op.getDpsInputs()[0]; }
  mlir::Value result() { return op->getResult(0); }
};

/// `op` (null: none) as a move, if it is one.
std::optional<Move> asMove(mlir::Operation *op);

} // namespace tw
