// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of signal processing: one elementwise op over the positions, in f64.
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// f(k / last) for k = 0, 1, ...; last is the length when "periodic" (the default), else one less.
LogicalResult window(Lowering &ctx, llvm::function_ref<Value(Element &, Value)> f) {
  int64_t length = ctx.integer("window_length");
  int64_t last = ctx.flag("periodic", true) ? length : length - 1;
  if (length < 0)
    return ctx.refuse("the window_length is negative: " + Twine(length));
  DType dtype = ctx.resultDType();
  SmallVector<OpFoldResult> sizes = {ctx.b.getIndexAttr(length)};
  if (length == 1)
    return ctx.done(ctx.filled(sizes, dtype, Scalar::ofInt(ctx.b.getContext(), 1)));
  return ctx.done(gather(ctx, sizes, dtype, {}, [&](GatherBody &body, ValueRange) {
    Element e(body.b, body.loc, DType::F64);
    Value k = arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), body.position(0));
    Value position = e.div(e.cast(k, DType::I64), e.constant(double(last)));
    return e.as(dtype).cast(f(e, position), DType::F64);
  }));
}

/// a - b cos(2 pi x) + c cos(4 pi x).
LogicalResult cosineWindow(Lowering &ctx, double a, double b, double c = 0) {
  auto cosine = [](Element &e, Value x, double turns) {
    return math::CosOp::create(e.b, e.loc, e.mul(e.constant(2 * M_PI * turns), x));
  };
  return window(ctx, [&](Element &e, Value x) {
    Value value = e.sub(e.constant(a), e.mul(e.constant(b), cosine(e, x, 1)));
    return c == 0 ? value : e.add(value, e.mul(e.constant(c), cosine(e, x, 2)));
  });
}

LogicalResult lowerHann(Lowering &ctx) { return cosineWindow(ctx, 0.5, 0.5); }

LogicalResult lowerHamming(Lowering &ctx) {
  return cosineWindow(ctx, ctx.number("alpha", 0.54), ctx.number("beta", 0.46));
}

LogicalResult lowerBlackman(Lowering &ctx) { return cosineWindow(ctx, 0.42, 0.5, 0.08); }

LogicalResult lowerBartlett(Lowering &ctx) {
  return window(ctx, [](Element &e, Value x) {
    Value middle = e.sub(e.mul(e.constant(2), x), e.constant(1));
    return e.sub(e.constant(1), e.abs(middle));
  });
}

} // namespace

Family windowFunctionsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.hann_window", lowerHann},
      {"torch.aten.hann_window.periodic", lowerHann},
      {"torch.aten.hamming_window", lowerHamming},
      {"torch.aten.hamming_window.periodic", lowerHamming},
      {"torch.aten.hamming_window.periodic_alpha", lowerHamming},
      {"torch.aten.hamming_window.periodic_alpha_beta", lowerHamming},
      {"torch.aten.blackman_window", lowerBlackman},
      {"torch.aten.blackman_window.periodic", lowerBlackman},
      {"torch.aten.bartlett_window", lowerBartlett},
      {"torch.aten.bartlett_window.periodic", lowerBartlett},
  };
  return {"Window functions", rows};
}

} // namespace tw::lower
