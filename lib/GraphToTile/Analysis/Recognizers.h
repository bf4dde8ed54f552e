// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a linalg operation is by its body: a contraction, or a search for an extreme element.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tw::conversion {

/// A body c + a * b; floats may be widened first.
struct ContractionParts {
  unsigned operands[2];
  bool isFloat;
};
std::optional<ContractionParts> matchContraction(mlir::linalg::LinalgOp op);

/// A body that keeps the greatest (or least) of an element and the first coordinate where it is.
struct ExtremeParts {
  mlir::Value element;
  bool isMax;
};
std::optional<ExtremeParts> matchExtreme(mlir::linalg::LinalgOp op);

} // namespace tw::conversion
