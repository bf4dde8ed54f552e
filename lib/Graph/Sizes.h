// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The size of a tensor in terms of what it was made from: constants, symbols of the entry and
// arithmetic on them, so that sizes never depend on computed tensors.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace tw {

/// Dimension `dim` of `tensor`. Makes a tensor.dim only of arguments and of what loops and branches
/// yield; other new operations are index arithmetic at the builder's insertion point.
mlir::OpFoldResult resolvedSize(mlir::Value tensor, int64_t dim, mlir::OpBuilder &b);

/// All dimensions of `tensor`.
llvm::SmallVector<mlir::OpFoldResult> resolvedSizes(mlir::Value tensor, mlir::OpBuilder &b);

} // namespace tw
