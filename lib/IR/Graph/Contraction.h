// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a contraction is, in linalg: a sum of products over dimensions that are reduced.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace tw::graph {

/// A body c + a * b; floats may be widened first. One of a and b has a parallel dimension that the
/// other one lacks, rows or columns; a reduction of an elementwise product has none.
struct ContractionParts {
  unsigned operands[2];
  bool isFloat;
};
std::optional<ContractionParts> matchContraction(mlir::linalg::LinalgOp op);

/// Whether an operand of a contraction is read in windows that are shorter than the distance over
/// which they move, and over which is summed, as the gradient of a convolution's filter:
///
///   gradient[kh, kw, o, c] += dy[n, y, x, o] * x[n, y + kh, x + kw, c]
bool sumsOverWindows(mlir::linalg::LinalgOp op);

/// Whether for each tap of such windows so many rows at least are multiplied by as many columns.
bool isProductOfWindows(mlir::linalg::LinalgOp op, int64_t least);

} // namespace tw::graph
