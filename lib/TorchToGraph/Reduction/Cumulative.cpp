// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running sums, products and extremes along a dimension: tw.scan.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

/// One state of dtype `state` that starts as `initial`.
static LogicalResult running(Lowering &ctx, DType state,
                             llvm::function_ref<Value(Element &)> initial,
                             llvm::function_ref<Value(Element &, Value, Value)> combine) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  if (ctx.hasRefused())
    return failure();
  if (self.rank() == 0)
    return ctx.done(castTo(ctx, self, ctx.resultDType()));
  Element outside(ctx.b, ctx.loc, state);
  auto results =
      scan(ctx, self, dim, state, initial(outside),
           [&](OpBuilder &b, Location loc, ValueRange states, ValueRange elements) {
             Element e(b, loc, state);
             return SmallVector<Value>{combine(e, states[0], e.cast(elements[0], self.dtype))};
           });
  return ctx.done(castTo(ctx, results.front(), ctx.resultDType()));
}

/// f64 for f32, as PyTorch's on CPUs: a product that leaves the range of f32 may come back into it.
static DType runningState(DType dtype) {
  return dtype == DType::F32 ? DType::F64 : accumulator(dtype);
}

static LogicalResult lowerCumsum(Lowering &ctx) {
  return running(
      ctx, runningState(ctx.resultDType()), [](Element &e) { return e.constant(0); },
      [](Element &e, Value sum, Value x) { return e.add(sum, x); });
}

static LogicalResult lowerCumprod(Lowering &ctx) {
  return running(
      ctx, runningState(ctx.resultDType()), [](Element &e) { return e.constant(1); },
      [](Element &e, Value product, Value x) { return e.mul(product, x); });
}

/// log(exp(sum) + exp(x)), stable.
static LogicalResult lowerLogCumsumExp(Lowering &ctx) {
  return running(
      ctx, runningState(ctx.resultDType()), [](Element &e) { return e.lowest(); },
      [](Element &e, Value sum, Value x) {
        Value large = e.max(sum, x), small = e.min(sum, x);
        Value together = e.add(large, e.log1p(e.exp(e.sub(small, large))));
        return e.select(e.eq(e.abs(large), e.constant(INFINITY)), large, together);
      });
}

/// The extreme so far and the last position of it; NaN counts as extreme.
template <bool max>
static LogicalResult lowerExtreme(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank());
  if (ctx.hasRefused())
    return failure();
  if (self.rank() == 0)
    return ctx.done({self, ctx.filled({}, DType::I64, Scalar::ofInt(ctx.b.getContext(), 0))});
  Element outside(ctx.b, ctx.loc, self.dtype);
  SmallVector<Value> initial = {max ? outside.lowest() : outside.highest(),
                                outside.as(DType::I64).constant(0)};
  auto results = scan(ctx, self, dim, {self.dtype, DType::I64}, initial,
                      [&](OpBuilder &b, Location loc, ValueRange best, ValueRange x) {
                        Element e(b, loc, self.dtype);
                        Value better = max ? e.ge(x[0], best[0]) : e.le(x[0], best[0]);
                        better = e.disjunction(better, e.isNan(x[0]));
                        Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                                                 scanPosition(b, loc, dim));
                        return SmallVector<Value>{e.select(better, x[0], best[0]),
                                                  e.select(better, index, best[1])};
                      });
  return ctx.done({results[0], results[1]});
}

Family cumulativeFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.cumsum", lowerCumsum},
      {"torch.aten.cumprod", lowerCumprod},
      {"torch.aten.logcumsumexp", lowerLogCumsumExp},
      {"torch.aten._logcumsumexp", lowerLogCumsumExp},
      {"torch.aten.cummax", lowerExtreme<true>},
      {"torch.aten.cummin", lowerExtreme<false>},
  };
  return {"Running results", rows};
}

} // namespace tw::lower
