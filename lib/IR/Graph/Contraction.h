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

} // namespace tw::graph
