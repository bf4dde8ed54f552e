// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes that only add or drop dimensions of size one, which move no element.
#pragma once
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tw {

/// Whether each group has at most one dimension of the result (of the source) that is not 1.
bool addsOnlyUnits(mlir::tensor::ExpandShapeOp expand);
bool dropsOnlyUnits(mlir::tensor::CollapseShapeOp collapse);

/// The dimension of a group of `type` that is not 1, or its first one.
int64_t carrierOf(mlir::RankedTensorType type, const mlir::ReassociationIndices &group);

} // namespace tw
