// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running results along a dimension as one tw.scan.
#pragma once
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Result k holds state k after each element; `initial` are the states before the first. The body
/// takes the states and one element of each input, in their own dtypes, and yields the new states.
using ScanFn = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange states, mlir::ValueRange elements)>;
llvm::SmallVector<Tensor> scan(Lowering &ctx, llvm::ArrayRef<Tensor> inputs, int64_t dim,
                               llvm::ArrayRef<DType> states, llvm::ArrayRef<mlir::Value> initial,
                               ScanFn body, bool reverse = false);

/// The position along the scanned dimension, inside a body (index).
mlir::Value scanPosition(mlir::OpBuilder &b, mlir::Location loc, int64_t dim);

} // namespace tw::lower
