// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads off a dispatch (a func.func with tw.kernel) what the compiler's kernels are to compute: a
// sequence of pieces, each a contraction or a loop program. Dimensions that every operation runs
// over together become one, those that a reshape cuts become several.
#pragma once
#include "Kernels/CallSizes.h"
#include "Kernels/Steps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace tw::kernels {

/// How a tensor becomes the buffer of a kernel: its axes are cut into parts, and neighbours joined.
struct BufferView {
  llvm::SmallVector<mlir::ReassociationIndices> cut; // parts of each axis
  llvm::SmallVector<Extent> parts;                   // of all axes
  llvm::SmallVector<mlir::ReassociationIndices> joined;
  bool operator==(const BufferView &) const = default;
};

/// A tensor that pieces read or write, as a buffer.
struct TensorUse {
  mlir::Value tensor; // of the function: an argument, a result that a piece stores, or a reshape
  BufferView view;
  int temporary = -1; // number of a value that stands only between pieces, whose tensor is null
};

struct Piece {
  std::variant<LoopProgram, Contraction> what;
  std::vector<TensorUse> tensors; // one for each buffer
  std::vector<int> scalars;       // arguments of the function
  llvm::SmallVector<mlir::Location> locations;
};

struct Description {
  std::vector<Piece> pieces; // in order
  int temporaries = 0;       // values between pieces so far
};

/// Fails with the reason in `why` when the compiler's kernels do not cover the dispatch.
/// `keepsAxes`: the buffers of results have the tensors' shapes, whatever could be joined.
mlir::FailureOr<Description> describe(mlir::func::FuncOp dispatch, const CallSizes &calls,
                                      bool keepsAxes, std::string &why);

} // namespace tw::kernels
