// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows that slide over the last dimensions of a tensor: what pooling and its gradients share.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Windows over the last `spatial` dimensions. In dimension d the window at output position o
/// covers `kernel[d]` places; place k is at input position start(o) + k * dilation[d], where
/// start(o) is o * stride[d] - padding[d] unless `starts` says otherwise.
struct Windows {
  int64_t spatial = 0;
  llvm::SmallVector<int64_t> kernel, stride, padding, dilation;
  /// Adaptive pooling: windows from floor(o * in / out) up to, not including,
  /// ceil((o + 1) * in / out). `kernel`, stride and padding are then unused.
  bool adaptive = false;
  /// Where windows begin (i64, certainly inside), a tensor [outer..., output size] for each
  /// dimension; stride and padding are then unused. Only reduceWindows knows of these.
  llvm::SmallVector<Tensor> starts;
  llvm::SmallVector<mlir::OpFoldResult> inputSizes, outputSizes; // spatial ones
};

/// kernel_size, stride (default: kernel_size), padding, dilation and ceil_mode of a pooling
/// operator over `input`'s last dimensions.
Windows readWindows(Lowering &ctx, const Tensor &input, int64_t spatial);
/// output_size of an adaptive pooling operator (None: the input's size).
Windows readAdaptiveWindows(Lowering &ctx, const Tensor &input, int64_t spatial);

/// The bounds of the loops over a window: `kernel`, or the largest window of adaptive pooling.
llvm::SmallVector<mlir::OpFoldResult> windowSizes(Lowering &ctx, const Windows &windows);
/// A tensor of windowSizes of which nothing is read: it gives those loops their bounds.
Tensor windowShape(Lowering &ctx, const Windows &windows);

/// A dimension of one window while code is emitted for it: index values. `start` is where it begins
/// if windows have `starts`.
struct WindowPlace {
  mlir::Value position; // in the input, clamped into it
  mlir::Value inside;   // i1: whether the place exists (not in the padding, not past the window)
};
WindowPlace place(mlir::OpBuilder &b, mlir::Location loc, const Windows &windows, int64_t dim,
                  mlir::Value output, mlir::Value k, mlir::Value inputSize, mlir::Value outputSize,
                  mlir::Value start = {});

/// The body of a reduction over windows: the element (undefined where not `inside`), whether it
/// exists, its flat position in the spatial dimensions (i64), and the accumulators; yields these.
using WindowFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &b, mlir::Location loc, mlir::Value element, mlir::Value inside,
    mlir::Value flat, mlir::ValueRange accumulators)>;
/// One result of the windows' sizes for each accumulator.
llvm::SmallVector<Tensor> reduceWindows(Lowering &ctx, const Tensor &input, const Windows &windows,
                                        llvm::ArrayRef<DType> accumulators,
                                        llvm::ArrayRef<mlir::Value> initial, WindowFn body);

/// The sizes of `input` with the spatial ones replaced by the windows' output sizes.
llvm::SmallVector<mlir::OpFoldResult> pooledSizes(Lowering &ctx, const Tensor &input,
                                                  const Windows &windows);

} // namespace tw::lower
