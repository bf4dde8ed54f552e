// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a linalg operation is by its body: a search for an extreme element. IR/Graph/Contraction.h
// has contractions.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tw::conversion {

/// A body that keeps the greatest (or least) of an element and the first coordinate where it is.
struct ExtremeParts {
  mlir::Value element;
  bool isMax;
};
std::optional<ExtremeParts> matchExtreme(mlir::linalg::LinalgOp op);

} // namespace tw::conversion
