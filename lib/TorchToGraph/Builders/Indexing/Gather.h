// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads at positions that come from data or from index arithmetic: tensor.extract inside a
// linalg.generic.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Core/Lowering.h"
#include <string>

namespace tw::lower {

/// Where the body of a gather is: arithmetic on i64 and index values, and the current position.
struct GatherBody {
  mlir::OpBuilder &b;
  mlir::Location loc;
  std::string op;   // "aten.embedding", for messages
  mlir::Block *top; // the body itself; `b` may stand inside a loop of it

  /// The position in dimension `dim` of the result (index).
  mlir::Value position(int64_t dim) const;
  mlir::Value constant(int64_t value) const; // index
  /// tensor[coordinates] (indices, inside).
  mlir::Value read(const Tensor &tensor, mlir::ValueRange coordinates) const;
  /// An index (i64 or another integer element, or index) from data as a safe position: negative
  /// ones count from the end when `wrap`; outside of [0, bound) the call ends with "OP: index %lld
  /// is out of range for dimension D with size %lld". `bound` is an index value from outside; see
  /// requireNonEmpty for bounds that may be 0.
  mlir::Value safeIndex(mlir::Value x, DType dtype, mlir::Value bound, int64_t dim,
                        bool wrap = true) const;
};

/// A tensor of `sizes` whose elements the body computes; `inputs` broadcast against it (index
/// tensors, updates), their elements in their own dtypes are the body's arguments.
using GatherFn = llvm::function_ref<mlir::Value(GatherBody &body, mlir::ValueRange elements)>;
Tensor gather(Lowering &ctx, llvm::ArrayRef<mlir::OpFoldResult> sizes, DType dtype,
              llvm::ArrayRef<Tensor> inputs, GatherFn body);

/// A tensor and where its first dimension lies among those of the result (they follow each other);
/// dimensions of static size 1 are repeated.
struct PlacedInput {
  Tensor tensor;
  int64_t first;
};
Tensor gatherPlaced(Lowering &ctx, llvm::ArrayRef<mlir::OpFoldResult> sizes, DType dtype,
                    llvm::ArrayRef<PlacedInput> inputs, GatherFn body);

/// How a placed tensor is read in an iteration space of `sizes`.
mlir::AffineMap placedMap(const PlacedInput &input, llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// A dimension of size `bound` is indexed by data wherever `sizes` holds a position: ends the call
/// with an error when the bound is 0 and there are such positions. `dim` is for the message, and
/// `what` is there of it.
void requireNonEmpty(Lowering &ctx, mlir::OpFoldResult bound,
                     llvm::ArrayRef<mlir::OpFoldResult> sizes, int64_t dim,
                     llvm::StringRef what = "indices into");

} // namespace tw::lower
