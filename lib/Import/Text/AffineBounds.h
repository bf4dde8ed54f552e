// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace tw::text {

/// What an expression is at least and at most.
struct AffineBounds {
  mlir::Value least, most;
};

/// Of an expression without symbols whose dimensions run from 0 to `last`, as index arithmetic at
/// the builder's insertion point; constants fold. Holds where every dimension has a value.
AffineBounds affineBounds(mlir::AffineExpr expr, mlir::ValueRange last, mlir::OpBuilder &b,
                          mlir::Location loc);

} // namespace tw::text
