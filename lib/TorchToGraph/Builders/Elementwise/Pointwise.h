// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise computations as one linalg.generic with PyTorch's broadcasting.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Computes one element: `e` has the compute dtype, `x` are the inputs' elements cast to it.
using ElementFn = llvm::function_ref<mlir::Value(Element &e, mlir::ValueRange x)>;

/// Applies `body` to the broadcast inputs (tensors and scalars). Inputs are cast to `compute`
/// (default: opmath of `result`, to which integer tensors come rounded to `result`, as type
/// promotion wants; PyTorch excepts those of one element). The body yields `compute` or, from a
/// comparison, i1; that is cast to `result`. Refuses inputs that cannot be broadcast together.
Tensor pointwise(Lowering &ctx, mlir::ArrayRef<Operand> inputs, DType result, ElementFn body,
                 std::optional<DType> compute = std::nullopt);

inline Tensor pointwise(Lowering &ctx, const Tensor &input, DType result, ElementFn body,
                        std::optional<DType> compute = std::nullopt) {
  return pointwise(ctx, llvm::ArrayRef<Operand>(Operand(input)), result, body, compute);
}

/// As pointwise, with each input cast to a dtype of its own, if wanted rounded to another one
/// before; the body yields the result's dtype.
struct TypedInput {
  Operand operand;
  DType dtype;
  std::optional<DType> rounded = std::nullopt;
};
using TypedElementFn =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x)>;
Tensor pointwiseTyped(Lowering &ctx, mlir::ArrayRef<TypedInput> inputs, DType result,
                      TypedElementFn body);

/// condition (any dtype: != 0) ? x : y, elementwise, in dtype `result`.
Tensor select(Lowering &ctx, const Operand &condition, const Operand &x, const Operand &y,
              DType result);

/// Computes elements of several results at once from inputs that keep their own dtypes; the body
/// yields one value of each result dtype.
using ElementsFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange x)>;
llvm::SmallVector<Tensor> pointwiseMany(Lowering &ctx, mlir::ArrayRef<Tensor> inputs,
                                        mlir::ArrayRef<DType> results, ElementsFn body);

/// `tensor` with its elements cast to `dtype`; itself when they have it already.
Tensor castTo(Lowering &ctx, const Tensor &tensor, DType dtype);

/// `tensor` repeated to `sizes` (PyTorch's expand); itself when it has them.
Tensor broadcastTo(Lowering &ctx, const Tensor &tensor, mlir::ArrayRef<mlir::OpFoldResult> sizes);

/// The sizes to which tensors broadcast together. Sizes known only at run time count as equal,
/// unless one is statically 1.
llvm::SmallVector<mlir::OpFoldResult> broadcastSizes(Lowering &ctx, mlir::ArrayRef<Tensor> tensors);

/// How an input of type `type`, aligned at the right, is read in an iteration space whose first
/// dimensions are those of a tensor with `sizes`: dimensions of static size 1 that are repeated are
/// read at 0.
mlir::AffineMap broadcastMap(mlir::RankedTensorType type, mlir::ArrayRef<mlir::OpFoldResult> sizes);

/// (d0, ..., d<loops-1>) -> (d0, ..., d<count-1>); count may be 0.
mlir::AffineMap leadingLoops(mlir::MLIRContext *context, int64_t loops, int64_t count);

} // namespace tw::lower
