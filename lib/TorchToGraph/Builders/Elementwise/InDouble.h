// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"

namespace tw::lower {

/// The lowering of an operator of one tensor, elementwise f: in f64, rounded once.
template <auto f>
llvm::LogicalResult lowerInDouble(Lowering &ctx) {
  return ctx.done(pointwise(
      ctx, ctx.arg(0u), ctx.resultDType(),
      [](Element &e, mlir::ValueRange x) { return f(e, x[0]); }, DType::F64));
}

} // namespace tw::lower
