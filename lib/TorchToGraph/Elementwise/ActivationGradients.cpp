// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of activation functions: one elementwise op of the gradient of the output and the
// input (or the output, or what the forward operator saved).
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Families.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// body(gradient, other), where the two are the operator's tensors in the order of its schema.
LogicalResult gradient(Lowering &ctx, StringRef other,
                       llvm::function_ref<Value(Element &, Value, Value)> body) {
  Operand grad = ctx.arg(ctx.has("grad_output") ? "grad_output" : "grad_out");
  return ctx.done(pointwise(ctx, {grad, ctx.arg(other)}, ctx.resultDType(),
                            [&](Element &e, ValueRange x) { return body(e, x[0], x[1]); }));
}

Value one(Element &e) { return e.constant(1); }
Value zero(Element &e) { return e.constant(0); }

LogicalResult lowerThreshold(Lowering &ctx) {
  double threshold = ctx.number("threshold");
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    return e.select(e.le(x, e.constant(threshold)), zero(e), g);
  });
}

LogicalResult lowerTanh(Lowering &ctx) {
  return gradient(ctx, "output", [](Element &e, Value g, Value y) {
    return e.mul(g, e.sub(one(e), e.mul(y, y)));
  });
}

LogicalResult lowerSigmoid(Lowering &ctx) {
  return gradient(ctx, "output", [](Element &e, Value g, Value y) {
    return e.mul(g, e.mul(y, e.sub(one(e), y)));
  });
}

/// s (1 + x (1 - s)), where s = sigmoid(x).
LogicalResult lowerSilu(Lowering &ctx) {
  return gradient(ctx, "self", [](Element &e, Value g, Value x) {
    Value s = e.sigmoid(x);
    return e.mul(e.mul(g, s), e.add(one(e), e.mul(x, e.sub(one(e), s))));
  });
}

/// t + x sigmoid(x) (1 - t^2), where t = tanh(softplus(x)).
LogicalResult lowerMish(Lowering &ctx) {
  return gradient(ctx, "self", [](Element &e, Value g, Value x) {
    Value soft = e.select(e.gt(x, e.constant(20)), x, e.log1p(e.exp(x)));
    Value t = e.tanh(soft);
    Value slope = e.mul(e.mul(x, e.sigmoid(x)), e.sub(one(e), e.mul(t, t)));
    return e.mul(g, e.add(t, slope));
  });
}

/// cdf(x) + x pdf(x).
Value geluSlope(Element &e, Value x) {
  Value cdf = e.mul(e.constant(0.5), e.add(one(e), e.erf(e.mul(x, e.constant(M_SQRT1_2)))));
  Value bell = e.exp(e.mul(e.mul(x, x), e.constant(-0.5)));
  return e.add(cdf, e.mul(x, e.mul(e.constant(M_2_SQRTPI * M_SQRT1_2 * 0.5), bell)));
}

/// The derivative of x (1 + tanh(beta (x + kappa x^3))) / 2.
Value geluTanhSlope(Element &e, Value x) {
  double beta = M_SQRT2 * M_2_SQRTPI * 0.5, kappa = 0.044715;
  Value squared = e.mul(x, x), cube = e.mul(squared, x), half = e.constant(0.5);
  Value t = e.tanh(e.mul(e.constant(beta), e.add(x, e.mul(e.constant(kappa), cube))));
  Value inner = e.mul(e.constant(beta), e.add(one(e), e.mul(e.constant(3 * kappa), squared)));
  Value right = e.mul(e.mul(e.mul(half, x), e.sub(one(e), e.mul(t, t))), inner);
  return e.add(e.mul(half, e.add(one(e), t)), right);
}

LogicalResult lowerGelu(Lowering &ctx) {
  bool isTanh = ctx.string("approximate") == "tanh";
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    return e.mul(g, isTanh ? geluTanhSlope(e, x) : geluSlope(e, x));
  });
}

LogicalResult lowerElu(Lowering &ctx) {
  double scale = ctx.number("scale", 1), input = ctx.number("input_scale", 1);
  double factor = ctx.number("alpha", 1) * scale;
  bool isResult = ctx.flag("is_result");
  return gradient(ctx, "self_or_result", [&](Element &e, Value g, Value x) {
    Value curve = isResult ? e.add(x, e.constant(factor))
                           : e.mul(e.constant(factor), e.exp(e.mul(x, e.constant(input))));
    Value below = e.mul(e.mul(g, e.constant(input)), curve);
    return e.select(e.le(x, zero(e)), below, e.mul(g, e.constant(scale)));
  });
}

LogicalResult lowerLeakyRelu(Lowering &ctx) {
  double slope = ctx.number("negative_slope", 0.01);
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    return e.select(e.gt(x, zero(e)), g, e.mul(g, e.constant(slope)));
  });
}

/// In training the noise holds each element's slope.
LogicalResult lowerRrelu(Lowering &ctx) {
  if (ctx.flag("training"))
    return gradient(ctx, "noise", [](Element &e, Value g, Value noise) { return e.mul(g, noise); });
  double slope = (ctx.number("lower") + ctx.number("upper")) / 2;
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    return e.select(e.gt(x, zero(e)), g, e.mul(g, e.constant(slope)));
  });
}

LogicalResult lowerHardtanh(Lowering &ctx) {
  double low = ctx.number("min_val", -1), high = ctx.number("max_val", 1);
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    Value outside = e.disjunction(e.le(x, e.constant(low)), e.ge(x, e.constant(high)));
    return e.select(outside, zero(e), g);
  });
}

LogicalResult lowerHardsigmoid(Lowering &ctx) {
  return gradient(ctx, "self", [](Element &e, Value g, Value x) {
    Value inside = e.conjunction(e.gt(x, e.constant(-3)), e.lt(x, e.constant(3)));
    return e.select(inside, e.mul(g, e.constant(1.0 / 6)), zero(e));
  });
}

LogicalResult lowerHardswish(Lowering &ctx) {
  return gradient(ctx, "self", [](Element &e, Value g, Value x) {
    Value slope = e.add(e.div(x, e.constant(3)), e.constant(0.5));
    Value value = e.select(e.lt(x, e.constant(3)), e.mul(g, slope), g);
    return e.select(e.le(x, e.constant(-3)), zero(e), value);
  });
}

LogicalResult lowerSoftplus(Lowering &ctx) {
  double beta = ctx.number("beta", 1), threshold = ctx.number("threshold", 20);
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    Value scaled = e.mul(x, e.constant(beta)), z = e.exp(scaled);
    Value soft = e.div(e.mul(g, z), e.add(z, one(e)));
    return e.select(e.gt(scaled, e.constant(threshold)), g, soft);
  });
}

/// sigmoid(-x), from exp(-|x|). The forward operator's buffer, which holds that, is not needed.
LogicalResult lowerLogSigmoid(Lowering &ctx) {
  return gradient(ctx, "self", [](Element &e, Value g, Value x) {
    Value z = e.exp(e.neg(e.abs(x))), isNegative = e.lt(x, zero(e));
    Value small = e.div(z, e.add(one(e), z));
    return e.mul(g, e.select(isNegative, e.sub(one(e), small), small));
  });
}

/// 1 / (x (1 - x)) inside [eps, 1 - eps], else 0; without eps, NaN outside [0, 1].
LogicalResult lowerLogit(Lowering &ctx) {
  bool hasEps = ctx.has("eps");
  double low = ctx.number("eps", 0), outside = hasEps ? 0 : NAN;
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    Value inside = e.conjunction(e.ge(x, e.constant(low)), e.le(x, e.constant(1 - low)));
    Value value = e.div(g, e.mul(x, e.sub(one(e), x)));
    return e.select(inside, value, e.constant(outside));
  });
}

/// 0 in [-lambda, lambda].
LogicalResult lowerShrink(Lowering &ctx) {
  double lambda = ctx.number("lambd", 0.5);
  return gradient(ctx, "self", [&](Element &e, Value g, Value x) {
    Value inside = e.conjunction(e.ge(x, e.constant(-lambda)), e.le(x, e.constant(lambda)));
    return e.select(inside, zero(e), g);
  });
}

/// Gradients of the input and, not yet summed, of the slopes.
LogicalResult lowerPrelu(Lowering &ctx) {
  SmallVector<Operand> inputs = {ctx.arg("grad_output"), ctx.arg("self"), ctx.arg("weight")};
  Tensor dInput = pointwise(ctx, inputs, ctx.resultDType(0), [](Element &e, ValueRange x) {
    return e.select(e.gt(x[1], zero(e)), x[0], e.mul(x[2], x[0]));
  });
  Tensor dWeight = pointwise(ctx, ArrayRef(inputs).take_front(2), ctx.resultDType(1),
                             [](Element &e, ValueRange x) {
                               Value isActive = e.gt(x[1], zero(e));
                               return e.select(isActive, zero(e), e.mul(x[1], x[0]));
                             });
  return ctx.done({dInput, dWeight});
}

/// The value's half gets g s, the gate's half g s (1 - s) value, where s = sigmoid(gate).
LogicalResult lowerGlu(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), grad = ctx.tensor("grad_output");
  int64_t dim = ctx.dim("dim", self.rank(), -1);
  if (self.rank() == 0)
    return ctx.refuse("the tensor has no dimension to halve");
  OpFoldResult none = ctx.b.getIndexAttr(0);
  OpFoldResult half =
      IndexMath{ctx.b, ctx.loc}.floorDiv(ctx.sizeOf(self, dim), ctx.b.getIndexAttr(2));
  Tensor value = slice(ctx, self, dim, none, half), gate = slice(ctx, self, dim, half, half);
  DType dtype = ctx.resultDType();
  Tensor dValue = pointwise(ctx, {grad, gate}, dtype,
                            [](Element &e, ValueRange x) { return e.mul(e.sigmoid(x[1]), x[0]); });
  Tensor dGate = pointwise(ctx, {grad, gate, value}, dtype, [](Element &e, ValueRange x) {
    Value s = e.sigmoid(x[1]);
    return e.mul(e.mul(e.mul(e.sub(one(e), s), s), x[0]), x[2]);
  });
  return ctx.done(concat(ctx, {dValue, dGate}, dim));
}

LogicalResult lowerDropout(Lowering &ctx) {
  return ctx.done(
      pointwise(ctx, {ctx.arg("grad_output"), ctx.arg("mask"), ctx.arg("scale")}, ctx.resultDType(),
                [](Element &e, ValueRange x) { return e.mul(e.mul(x[0], x[1]), x[2]); }));
}

} // namespace

Family activationGradientsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.threshold_backward", lowerThreshold},
      {"torch.aten.tanh_backward", lowerTanh},
      {"torch.aten.sigmoid_backward", lowerSigmoid},
      {"torch.aten.silu_backward", lowerSilu},
      {"torch.aten.mish_backward", lowerMish},
      {"torch.aten.gelu_backward", lowerGelu},
      {"torch.aten.elu_backward", lowerElu},
      {"torch.aten.leaky_relu_backward", lowerLeakyRelu},
      {"torch.aten.rrelu_with_noise_backward", lowerRrelu},
      {"torch.aten.hardtanh_backward", lowerHardtanh},
      {"torch.aten.hardsigmoid_backward", lowerHardsigmoid},
      {"torch.aten.hardswish_backward", lowerHardswish},
      {"torch.aten.softplus_backward", lowerSoftplus},
      {"torch.aten.log_sigmoid_backward", lowerLogSigmoid},
      {"torch.aten.logit_backward", lowerLogit},
      {"torch.aten.hardshrink_backward", lowerShrink},
      {"torch.aten.softshrink_backward", lowerShrink},
      {"torch.aten._prelu_kernel_backward", lowerPrelu},
      {"torch.aten.glu_backward", lowerGlu},
      {"torch.aten.native_dropout_backward", lowerDropout},
  };
  return {"Gradients of activations", rows};
}

} // namespace tw::lower
