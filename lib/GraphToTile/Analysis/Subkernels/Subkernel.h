// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads off a dispatch (a func.func with tw.kernel) what its kernels are to compute: a sequence of
// subkernels, each a contraction, a convolution, an attention, its gradient or a loop program. Loop
// dimensions that every operation runs along together become one, those that a reshape cuts become
// several.
#pragma once
#include "GraphToTile/Analysis/Loops/CallSizes.h"
#include "GraphToTile/Analysis/Subkernels/LoopProgram.h"
#include "Kernels/Attention.h"
#include "Kernels/AttentionGradient.h"
#include "Kernels/Contraction.h"
#include "Kernels/Winograd.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include <variant>

namespace tw::conversion {
using kernels::Attention;
using kernels::AttentionGradient;
using kernels::Contraction;
using kernels::Convolution;

/// How a tensor becomes the buffer of a kernel: its axes are cut into parts, and neighbours joined.
struct BufferView {
  llvm::SmallVector<mlir::ReassociationIndices> cut; // parts of each axis
  llvm::SmallVector<Extent> parts;                   // of all axes
  llvm::SmallVector<mlir::ReassociationIndices> joined;
  bool operator==(const BufferView &) const = default;
};

/// A tensor that subkernels read or write, as a buffer.
struct TensorUse {
  mlir::Value
      tensor; // of the function: an argument, a result that a subkernel stores, or a reshape
  BufferView view;
  /// Number of a value that stands only between subkernels, whose tensor is null; a view of it cuts
  /// axes of known sizes.
  int temporary = -1;
};

struct Subkernel {
  std::variant<LoopProgram, Contraction, Convolution, Attention, AttentionGradient,
               kernels::WinogradWeights>
      what;
  std::vector<TensorUse> tensors; // one for each buffer
  llvm::SmallVector<mlir::Location> locations;
};

struct DispatchAnalysis {
  std::vector<Subkernel> subkernels; // in order
  int temporaries = 0;               // values between subkernels so far
};

/// Fails with the reason in `why` when tile programs do not cover the dispatch.
/// `keepsAxes`: the buffers of results have the tensors' shapes, whatever could be joined.
mlir::FailureOr<DispatchAnalysis> analyzeDispatch(mlir::func::FuncOp dispatch,
                                                  const CallSizes &calls, bool keepsAxes,
                                                  std::string &why);

} // namespace tw::conversion
