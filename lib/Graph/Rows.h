// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows: the leading dimensions that a chain of operations has in common. A kernel whose operations
// all share N row dimensions is one parallel loop over them; what lies between its operations is
// one row of it. Everything dispatch formation asks about an operation is answered
// here.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

namespace tw {

/// True for operations that compute tensors and therefore belong into a kernel.
bool isCompute(mlir::Operation *op);

/// True for operations that only rename elements of one tensor: reshapes, casts and slices.
bool isView(mlir::Operation *op);

/// How many leading dimensions of the results of `op` are parallel: each element there is computed
/// without the others. All results agree on it.
int64_t numLeadingParallelDims(mlir::Operation *op);

/// How many leading dimensions of `operand` its owner reads at the very position of the row it
/// computes.
int64_t sharedRows(mlir::OpOperand &operand);

/// True for sums of products (IR/Graph/Contraction.h), convolutions and attention.
bool isContraction(mlir::Operation *op);

/// Elements in one row of `value` when its first `rows` dimensions are fixed; dynamic sizes count
/// as 1024.
int64_t rowElements(mlir::Value value, int64_t rows);

/// The tensors that the regions of `op` read from outside.
llvm::SmallVector<mlir::Value> capturedTensors(mlir::Operation *op);

} // namespace tw
