// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops of a dispatch's operations, and how they walk over its tensors, through all views: the
// first half of Describe.
#pragma once
#include "Kernels/DimTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

namespace tw::kernels {

/// How one axis of a tensor is walked over: offset + stride * (place along the dimensions).
struct AxisWalk {
  llvm::SmallVector<int> dims; // of the DimTable; empty: one element
  int64_t offset = 0, stride = 1;
  bool isPart = false; // not all of the axis, or not certainly
  bool isPlain() const { return offset == 0 && stride == 1 && !isPart; }
};

/// An operand, traced back through views.
struct OperandWalk {
  mlir::Value root; // an argument of the function or a result of one of its operations
  llvm::SmallVector<AxisWalk> axes; // of the root
};

struct OpLoops {
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<int> loops;                           // a dimension for each
  llvm::SmallVector<std::optional<OperandWalk>> operands; // none: a scalar, or an init not read
};

class LoopNests {
public:
  /// Reads the dispatch. Fails with a reason.
  mlir::LogicalResult read(mlir::func::FuncOp dispatch);

  std::string why;
  DimTable table;
  std::vector<OpLoops> ops;                                     // in order
  llvm::MapVector<mlir::Value, llvm::SmallVector<int>> results; // of ops: a dimension for each axis

private:
  mlir::LogicalResult fail(const llvm::Twine &reason) {
    why = reason.str();
    return mlir::failure();
  }
  mlir::LogicalResult addOp(mlir::linalg::LinalgOp op);
  void shareArguments();
  bool areDistinct(const DimTable &dims) const;
  mlir::LogicalResult walkOf(mlir::OpOperand &operand, OpLoops &nest);
  mlir::LogicalResult traceViews(OperandWalk &walk);
  mlir::LogicalResult through(mlir::Operation *view, OperandWalk &walk);
};

/// The scalar that a tensor is filled with, if it is.
mlir::Value filledWith(mlir::Value tensor);

} // namespace tw::kernels
