// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise arithmetic of two or three operands.
#include "TorchToGraph/Builders/Pointwise.h"
#include "TorchToGraph/Families.h"

using namespace mlir;

namespace tw::lower {

/// self + alpha * other, with a tensor or a number as `other`.
static LogicalResult lowerAdd(Lowering &ctx) {
  Scalar alpha = ctx.scalar("alpha", 1);
  bool plain = alpha.constantNumber() == 1;
  return ctx.done(pointwise(ctx, {ctx.arg("self"), ctx.arg("other"), alpha}, ctx.resultDType(),
                            [&](Element &e, ValueRange x) {
                              return e.add(x[0], plain ? x[1] : e.mul(x[2], x[1]));
                            }));
}

Family arithmeticFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.add.Tensor", lowerAdd},
      {"torch.aten.add.Scalar", lowerAdd},
  };
  return {"Arithmetic", rows};
}

} // namespace tw::lower
