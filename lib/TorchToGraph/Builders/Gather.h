// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads at positions that come from data or from index arithmetic: tensor.extract inside a
// linalg.generic.
#pragma once
#include "TorchToGraph/Builders/Element.h"
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Where the body of a gather is: arithmetic on i64 and index values, and the current position.
struct GatherBody {
  mlir::OpBuilder &b;
  mlir::Location loc;

  /// The position in dimension `dim` of the result (index).
  mlir::Value position(int64_t dim) const;
  mlir::Value constant(int64_t value) const; // index
  /// tensor[coordinates] (indices, inside).
  mlir::Value read(const Tensor &tensor, mlir::ValueRange coordinates) const;
  /// An index (i64 or another integer element, or index) from data as a safe position: negative
  /// ones count from the end when `wrap`; outside of [0, bound) the call ends with "index %lld is
  /// out of range for dimension D with size %lld". `bound` is an index value from outside.
  mlir::Value safeIndex(mlir::Value x, DType dtype, mlir::Value bound, int64_t dim,
                        bool wrap = true) const;
};

/// A tensor of `sizes` whose elements the body computes; `inputs` broadcast against it (index
/// tensors, updates), their elements in their own dtypes are the body's arguments.
using GatherFn = llvm::function_ref<mlir::Value(GatherBody &body, mlir::ValueRange elements)>;
Tensor gather(Lowering &ctx, llvm::ArrayRef<mlir::OpFoldResult> sizes, DType dtype,
              llvm::ArrayRef<Tensor> inputs, GatherFn body);

} // namespace tw::lower
