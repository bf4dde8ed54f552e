// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activation functions, and dropout where it does nothing.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

/// One tensor, and numbers known only to the body.
static LogicalResult activate(Lowering &ctx, llvm::function_ref<Value(Element &, Value)> body) {
  return ctx.done(pointwise(ctx, ctx.arg("self"), ctx.resultDType(),
                            [&](Element &e, ValueRange x) { return body(e, x[0]); }));
}

static LogicalResult lowerRelu(Lowering &ctx) {
  return activate(ctx, [](Element &e, Value x) { return e.max(x, e.constant(0)); });
}

static LogicalResult lowerRelu6(Lowering &ctx) {
  return activate(
      ctx, [](Element &e, Value x) { return e.min(e.max(x, e.constant(0)), e.constant(6)); });
}

static LogicalResult lowerHardtanh(Lowering &ctx) {
  double low = ctx.number("min_val", -1), high = ctx.number("max_val", 1);
  return activate(
      ctx, [&](Element &e, Value x) { return e.min(e.max(x, e.constant(low)), e.constant(high)); });
}

/// min(max(x + 3, 0), 6) / 6.
static Value hardGate(Element &e, Value x) {
  Value shifted = e.add(x, e.constant(3));
  return e.div(e.min(e.max(shifted, e.constant(0)), e.constant(6)), e.constant(6));
}

static LogicalResult lowerHardsigmoid(Lowering &ctx) { return activate(ctx, hardGate); }

static LogicalResult lowerHardswish(Lowering &ctx) {
  return activate(ctx, [](Element &e, Value x) { return e.mul(x, hardGate(e, x)); });
}

static LogicalResult lowerGelu(Lowering &ctx) {
  std::string kind = ctx.string("approximate");
  if (kind != "tanh")
    return activate(ctx, [](Element &e, Value x) {
      Value cdf = e.add(e.constant(1), e.erf(e.mul(x, e.constant(M_SQRT1_2))));
      return e.mul(e.mul(x, e.constant(0.5)), cdf);
    });
  return activate(ctx, [](Element &e, Value x) {
    Value cube = e.mul(e.mul(x, x), x);
    Value inner =
        e.mul(e.constant(M_SQRT2 * M_2_SQRTPI * 0.5), e.add(x, e.mul(e.constant(0.044715), cube)));
    return e.mul(e.mul(x, e.constant(0.5)), e.add(e.constant(1), e.tanh(inner)));
  });
}

static LogicalResult lowerSilu(Lowering &ctx) {
  return activate(
      ctx, [](Element &e, Value x) { return e.div(x, e.add(e.constant(1), e.exp(e.neg(x)))); });
}

/// log(1 + exp(beta x)) / beta, and x itself above the threshold.
static Value softplus(Element &e, Value x, double beta, double threshold) {
  Value scaled = e.mul(x, e.constant(beta));
  Value soft = e.div(e.log1p(e.exp(scaled)), e.constant(beta));
  return e.select(e.gt(scaled, e.constant(threshold)), x, soft);
}

static LogicalResult lowerSoftplus(Lowering &ctx) {
  double beta = ctx.number("beta", 1), threshold = ctx.number("threshold", 20);
  return activate(ctx, [&](Element &e, Value x) { return softplus(e, x, beta, threshold); });
}

static LogicalResult lowerMish(Lowering &ctx) {
  return activate(ctx, [](Element &e, Value x) { return e.mul(x, e.tanh(softplus(e, x, 1, 20))); });
}

/// x > 0 ? scale x : alpha scale (exp(input_scale x) - 1).
static LogicalResult elu(Lowering &ctx, double alpha, double scale, double inputScale) {
  return activate(ctx, [&](Element &e, Value x) {
    Value curve = e.mul(e.expm1(e.mul(x, e.constant(inputScale))), e.constant(alpha * scale));
    return e.select(e.gt(x, e.constant(0)), e.mul(x, e.constant(scale)), curve);
  });
}

static LogicalResult lowerElu(Lowering &ctx) {
  return elu(ctx, ctx.number("alpha", 1), ctx.number("scale", 1), ctx.number("input_scale", 1));
}

static LogicalResult lowerSelu(Lowering &ctx) {
  return elu(ctx, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
}

static LogicalResult lowerCelu(Lowering &ctx) {
  double alpha = ctx.number("alpha", 1);
  if (alpha == 0)
    return ctx.refuse("alpha must not be 0");
  return elu(ctx, alpha, 1, 1 / alpha);
}

static LogicalResult leakyRelu(Lowering &ctx, double slope) {
  return activate(ctx, [&](Element &e, Value x) {
    return e.select(e.gt(x, e.constant(0)), x, e.mul(x, e.constant(slope)));
  });
}

static LogicalResult lowerLeakyRelu(Lowering &ctx) {
  return leakyRelu(ctx, ctx.number("negative_slope", 0.01));
}

/// In evaluation the slope is the middle of its range.
static LogicalResult lowerRrelu(Lowering &ctx) {
  if (ctx.flag("training"))
    return ctx.refuse("in training mode it draws random numbers; export the model in eval mode");
  return leakyRelu(ctx, (ctx.number("lower", 0.125) + ctx.number("upper", 1.0 / 3)) / 2);
}

/// One slope for all, or one for each channel (dimension 1).
static LogicalResult lowerPrelu(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), weight = ctx.tensor("weight");
  if (weight.rank() == 1 && self.rank() > 2) {
    auto sizes = ctx.sizesOf(weight);
    sizes.append(self.rank() - 2, ctx.b.getIndexAttr(1));
    weight = reshape(ctx, weight, sizes);
  }
  return ctx.done(pointwise(ctx, {self, weight}, ctx.resultDType(), [](Element &e, ValueRange x) {
    return e.select(e.gt(x[0], e.constant(0)), x[0], e.mul(x[0], x[1]));
  }));
}

static LogicalResult lowerThreshold(Lowering &ctx) {
  return ctx.done(
      pointwise(ctx, {ctx.arg("self"), ctx.arg("threshold"), ctx.arg("value")}, ctx.resultDType(),
                [](Element &e, ValueRange x) { return e.select(e.le(x[0], x[1]), x[2], x[0]); }));
}

static LogicalResult lowerLogSigmoid(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  Tensor output = pointwise(ctx, self, ctx.resultDType(), [](Element &e, ValueRange x) {
    Value soft = e.log1p(e.exp(e.neg(e.abs(x[0]))));
    return e.sub(e.min(x[0], e.constant(0)), soft);
  });
  if (ctx.op->getNumResults() == 1)
    return ctx.done(output);
  Tensor buffer = pointwise(ctx, self, ctx.resultDType(1),
                            [](Element &e, ValueRange x) { return e.exp(e.neg(e.abs(x[0]))); });
  // On some devices PyTorch's buffer is empty; its shape tells.
  if (auto shape = ctx.knownShape(1); shape && int64_t(shape->size()) != self.rank())
    buffer = ctx.empty(
        ctx.refined(SmallVector<OpFoldResult>(ctx.resultRank(1), ctx.b.getIndexAttr(0)), 1),
        ctx.resultDType(1));
  return ctx.done({output, buffer});
}

/// Half of the channels, gated by the sigmoid of the other half.
static LogicalResult lowerGlu(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  int64_t dim = ctx.dim("dim", self.rank(), -1);
  if (self.rank() == 0)
    return ctx.refuse("the tensor has no dimension to halve");
  OpFoldResult half =
      IndexMath{ctx.b, ctx.loc}.floorDiv(ctx.sizeOf(self, dim), ctx.b.getIndexAttr(2));
  Tensor value = slice(ctx, self, dim, ctx.b.getIndexAttr(0), half);
  Tensor gate = slice(ctx, self, dim, half, half);
  return ctx.done(pointwise(ctx, {value, gate}, ctx.resultDType(),
                            [](Element &e, ValueRange x) { return e.mul(x[0], e.sigmoid(x[1])); }));
}

/// Zero near zero; `soft` also moves the rest toward zero.
template <bool soft>
static LogicalResult lowerShrink(Lowering &ctx) {
  double lambda = ctx.number("lambd", 0.5);
  return activate(ctx, [&](Element &e, Value x) {
    Value bound = e.constant(lambda), zero = e.constant(0);
    Value above = soft ? e.sub(x, bound) : x, below = soft ? e.add(x, bound) : x;
    Value inside = e.select(e.isNan(x), x, zero);
    Value value = e.select(e.lt(x, e.constant(-lambda)), below, inside);
    return e.select(e.gt(x, bound), above, value);
  });
}

/// Nothing to drop in evaluation or with p = 0.
static LogicalResult lowerDropout(Lowering &ctx) {
  if (ctx.flag("train") && ctx.number("p") != 0)
    return ctx.refuse("with p > 0 in training mode it draws random numbers; export the model in "
                      "eval mode or with p = 0");
  if (ctx.op->getNumResults() == 1)
    return ctx.done(ctx.arg("input"));
  Tensor input = ctx.tensor("input");
  Scalar yes = Scalar::ofBool(ctx.b.getContext(), true);
  return ctx.done({input, ctx.filled(ctx.sizesOf(input), DType::Bool, yes)});
}

Family activationsFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.relu", lowerRelu},
      {"torch.aten.relu6", lowerRelu6},
      {"torch.aten.hardtanh", lowerHardtanh},
      {"torch.aten.hardsigmoid", lowerHardsigmoid},
      {"torch.aten.hardswish", lowerHardswish},
      {"torch.aten.gelu", lowerGelu},
      {"torch.aten.silu", lowerSilu},
      {"torch.aten.softplus", lowerSoftplus},
      {"torch.aten.mish", lowerMish},
      {"torch.aten.elu", lowerElu},
      {"torch.aten.selu", lowerSelu},
      {"torch.aten.celu", lowerCelu},
      {"torch.aten.leaky_relu", lowerLeakyRelu},
      {"torch.aten.rrelu", lowerRrelu},
      {"torch.aten.prelu", lowerPrelu},
      {"torch.aten._prelu_kernel", lowerPrelu},
      {"torch.aten.threshold", lowerThreshold},
      {"torch.aten.log_sigmoid", lowerLogSigmoid},
      {"torch.aten.log_sigmoid_forward", lowerLogSigmoid},
      {"torch.aten.glu", lowerGlu},
      {"torch.aten.hardshrink", lowerShrink<false>},
      {"torch.aten.softshrink", lowerShrink<true>},
      {"torch.aten.dropout", lowerDropout},
      {"torch.aten.feature_dropout", lowerDropout},
      {"torch.aten.alpha_dropout", lowerDropout},
      {"torch.aten.feature_alpha_dropout", lowerDropout},
      {"torch.aten.native_dropout", lowerDropout},
  };
  return {"Activations", rows};
}

} // namespace tw::lower
