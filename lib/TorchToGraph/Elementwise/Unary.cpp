// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise functions of one tensor.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tw::lower {

using UnaryFn = Value (*)(const Element &, Value);

/// In opmath of the result; integers stay integers.
template <UnaryFn function>
static LogicalResult lowerUnary(Lowering &ctx) {
  return ctx.done(pointwise(ctx, ctx.arg("self"), ctx.resultDType(),
                            [](Element &e, ValueRange x) { return function(e, x[0]); }));
}

/// For functions that are only defined on floats.
template <UnaryFn function>
static LogicalResult lowerFloat(Lowering &ctx) {
  if (!isFloat(ctx.resultDType()))
    return ctx.refuse("its result must be floating");
  return lowerUnary<function>(ctx);
}

/// Roundings leave integers as they are.
template <UnaryFn function>
static LogicalResult lowerRounding(Lowering &ctx) {
  if (!isFloat(ctx.resultDType()))
    return ctx.done(ctx.arg("self"));
  return lowerUnary<function>(ctx);
}

template <Value (Element::*member)(Value) const>
static Value call(const Element &e, Value x) {
  return (e.*member)(x);
}

template <typename Op>
static Value emit(const Element &e, Value x) {
  return Op::create(e.b, e.loc, x);
}

static Value square(const Element &e, Value x) { return e.mul(x, x); }
static Value identity(const Element &, Value x) { return x; }

static Value sign(const Element &e, Value x) {
  Value zero = e.constant(0), one = e.constant(1);
  Value positive = e.select(e.gt(x, zero), one, zero);
  return isUnsigned(e.dtype) ? positive : e.select(e.lt(x, zero), e.constant(-1), positive);
}

/// The fraction has the sign of x.
static Value frac(const Element &e, Value x) {
  return e.sub(x, math::TruncOp::create(e.b, e.loc, x));
}

template <bool toRadians>
static Value scaleAngle(const Element &e, Value x) {
  return e.mul(x, e.constant(toRadians ? M_PI / 180 : 180 / M_PI));
}

/// Of a real number in the complex plane: pi left of 0, and 0.
static Value angle(const Element &e, Value x) {
  Value zero = e.constant(0), value = e.select(e.lt(x, zero), e.constant(M_PI), zero);
  return e.select(e.isNan(x), x, value);
}

static Value sinc(const Element &e, Value x) {
  Value angle = e.mul(x, e.constant(M_PI));
  Value ratio = e.div(math::SinOp::create(e.b, e.loc, angle), angle);
  return e.select(e.eq(x, e.constant(0)), e.constant(1), ratio);
}

static Value withSign(const Element &e, Value magnitude, Value x) {
  return math::CopySignOp::create(e.b, e.loc, magnitude, x);
}

/// log(2 |x|), which inverse hyperbolic functions tend to, where x^2 would overflow.
static Value asymptote(const Element &e, Value size, Value near) {
  Value far = e.add(e.log(size), e.constant(M_LN2));
  return e.select(e.gt(size, e.constant(1e9)), far, near);
}

/// log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))) with the sign of x: exact near 0.
static Value asinh(const Element &e, Value x) {
  Value size = e.abs(x), squared = e.mul(x, x), one = e.constant(1);
  Value root = e.add(one, e.sqrt(e.add(squared, one)));
  Value near = e.log1p(e.add(size, e.div(squared, root)));
  return withSign(e, asymptote(e, size, near), x);
}

/// log1p(t + sqrt(2 t + t^2)), t = x - 1: exact near 1; NaN below.
static Value acosh(const Element &e, Value x) {
  Value t = e.sub(x, e.constant(1));
  Value near = e.log1p(e.add(t, e.sqrt(e.add(e.add(t, t), e.mul(t, t)))));
  Value isOutside = e.lt(x, e.constant(1));
  return e.select(isOutside, e.constant(NAN), asymptote(e, x, near));
}

static Value atanh(const Element &e, Value x) {
  Value size = e.abs(x);
  Value ratio = e.div(e.add(size, size), e.sub(e.constant(1), size));
  return withSign(e, e.mul(e.constant(0.5), e.log1p(ratio)), x);
}

static Value erfc(const Element &e, Value x) { return math::ErfcOp::create(e.b, e.loc, x); }

/// The inverse error function of size < 1 to about seven digits: Giles' polynomials ("Approximating
/// the erfinv function", 2010), and beyond them exp(-y^2) / (y sqrt(pi)) = 1 - size, once
/// substituted.
static Value roughErfinv(const Element &e, Value size, Value rest) {
  auto polynomial = [&](Value w, std::initializer_list<double> coefficients) {
    Value sum = e.constant(0.0);
    for (double c : coefficients)
      sum = e.add(e.mul(sum, w), e.constant(c));
    return sum;
  };
  Value w = e.neg(e.log(e.mul(rest, e.add(e.constant(1), size))));
  Value central =
      polynomial(e.sub(w, e.constant(2.5)),
                 {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                  -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value tail = polynomial(e.sub(e.sqrt(w), e.constant(3)),
                          {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                           0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value near = e.mul(e.select(e.lt(w, e.constant(5)), central, tail), size);
  Value correction = e.mul(e.constant(0.5), e.log(e.mul(e.constant(M_PI), w)));
  Value far = e.sqrt(e.sub(e.add(w, e.constant(M_LN2)), correction));
  return e.select(e.lt(w, e.constant(16)), near, far);
}

/// Improved by two of Halley's steps; near 1 by erfc, which has the digits that erf has lost.
static Value erfinv(const Element &e, Value x) {
  Value size = e.abs(x), rest = e.sub(e.constant(1), size), y = roughErfinv(e, size, rest);
  Value isNear = e.lt(size, e.constant(0.5));
  for (int step = 0; step < 2; ++step) {
    Value slope = e.mul(e.constant(2 / std::sqrt(M_PI)), e.exp(e.neg(e.mul(y, y))));
    Value error = e.select(isNear, e.sub(e.erf(y), size), e.sub(rest, erfc(e, y)));
    Value newton = e.div(error, slope);
    y = e.sub(y, e.div(newton, e.add(e.constant(1), e.mul(y, newton))));
  }
  Value atEnd = e.eq(size, e.constant(1));
  return withSign(e, e.select(atEnd, e.constant(double(INFINITY)), y), x);
}

static LogicalResult lowerRoundDecimals(Lowering &ctx) {
  double scale = std::pow(10.0, double(std::abs(ctx.integer("decimals"))));
  bool up = ctx.integer("decimals") >= 0;
  if (!isFloat(ctx.resultDType()))
    return ctx.done(ctx.arg("self"));
  return ctx.done(pointwise(ctx, ctx.arg("self"), ctx.resultDType(), [&](Element &e, ValueRange x) {
    Value factor = e.constant(scale);
    Value scaled = up ? e.mul(x[0], factor) : e.div(x[0], factor);
    Value whole = math::RoundEvenOp::create(e.b, e.loc, scaled);
    return up ? e.div(whole, factor) : e.mul(whole, factor);
  }));
}

static LogicalResult lowerLogit(Lowering &ctx) {
  bool clamps = ctx.has("eps");
  double eps = ctx.number("eps");
  return ctx.done(pointwise(ctx, ctx.arg("self"), ctx.resultDType(), [&](Element &e, ValueRange x) {
    Value p = x[0];
    if (clamps)
      p = e.min(e.max(p, e.constant(eps)), e.constant(1 - eps));
    return e.log(e.div(p, e.sub(e.constant(1), p)));
  }));
}

/// The largest finite number of a dtype.
static double largest(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return 65504;
  case DType::BF16:
    return 3.3895313892515355e38;
  case DType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

static LogicalResult lowerNanToNum(Lowering &ctx) {
  DType dtype = ctx.resultDType();
  if (!isFloat(dtype))
    return ctx.done(ctx.arg("self"));
  double nan = ctx.number("nan", 0), up = ctx.number("posinf", largest(dtype)),
         down = ctx.number("neginf", -largest(dtype));
  return ctx.done(pointwise(ctx, ctx.arg("self"), dtype, [&](Element &e, ValueRange x) {
    Value value = e.select(e.isNan(x[0]), e.constant(nan), x[0]);
    value = e.select(e.eq(x[0], e.constant(INFINITY)), e.constant(up), value);
    return e.select(e.eq(x[0], e.constant(-INFINITY)), e.constant(down), value);
  }));
}

static LogicalResult lowerSignBit(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  return ctx.done(pointwise(
      ctx, self, DType::Bool,
      [](Element &e, ValueRange x) {
        if (!isFloat(e.dtype))
          return e.lt(x[0], e.constant(0));
        Value unit = math::CopySignOp::create(e.b, e.loc, e.constant(1), x[0]);
        return e.lt(unit, e.constant(0));
      },
      opmath(self.dtype)));
}

Family unaryFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.abs", lowerUnary<call<&Element::abs>>},
      {"torch.aten.absolute", lowerUnary<call<&Element::abs>>},
      {"torch.aten.neg", lowerUnary<call<&Element::neg>>},
      {"torch.aten._neg_view", lowerUnary<call<&Element::neg>>},
      {"torch.aten._neg_view_copy", lowerUnary<call<&Element::neg>>},
      {"torch.aten.negative", lowerUnary<call<&Element::neg>>},
      {"torch.aten.positive", lowerUnary<identity>},
      {"torch.aten.square", lowerUnary<square>},
      {"torch.aten.sign", lowerUnary<sign>},
      {"torch.aten.sgn", lowerUnary<sign>},
      {"torch.aten.signbit", lowerSignBit},
      {"torch.aten.ceil", lowerRounding<emit<math::CeilOp>>},
      {"torch.aten.floor", lowerRounding<emit<math::FloorOp>>},
      {"torch.aten.trunc", lowerRounding<emit<math::TruncOp>>},
      {"torch.aten.fix", lowerRounding<emit<math::TruncOp>>},
      {"torch.aten.round", lowerRounding<emit<math::RoundEvenOp>>},
      {"torch.aten.round.decimals", lowerRoundDecimals},
      {"torch.aten.frac", lowerFloat<frac>},
      {"torch.aten.sqrt", lowerFloat<call<&Element::sqrt>>},
      {"torch.aten.rsqrt", lowerFloat<call<&Element::rsqrt>>},
      {"torch.aten.reciprocal", lowerFloat<call<&Element::reciprocal>>},
      {"torch.aten.exp", lowerFloat<call<&Element::exp>>},
      {"torch.aten.exp2", lowerFloat<emit<math::Exp2Op>>},
      {"torch.aten.expm1", lowerFloat<call<&Element::expm1>>},
      {"torch.aten.log", lowerFloat<call<&Element::log>>},
      {"torch.aten.log2", lowerFloat<emit<math::Log2Op>>},
      {"torch.aten.log10", lowerFloat<emit<math::Log10Op>>},
      {"torch.aten.log1p", lowerFloat<call<&Element::log1p>>},
      {"torch.aten.sin", lowerFloat<emit<math::SinOp>>},
      {"torch.aten.cos", lowerFloat<emit<math::CosOp>>},
      {"torch.aten.tan", lowerFloat<emit<math::TanOp>>},
      {"torch.aten.asin", lowerFloat<emit<math::AsinOp>>},
      {"torch.aten.acos", lowerFloat<emit<math::AcosOp>>},
      {"torch.aten.atan", lowerFloat<emit<math::AtanOp>>},
      {"torch.aten.arctan", lowerFloat<emit<math::AtanOp>>},
      {"torch.aten.sinh", lowerFloat<emit<math::SinhOp>>},
      {"torch.aten.cosh", lowerFloat<emit<math::CoshOp>>},
      {"torch.aten.tanh", lowerFloat<call<&Element::tanh>>},
      {"torch.aten.asinh", lowerFloat<asinh>},
      {"torch.aten.acosh", lowerFloat<acosh>},
      {"torch.aten.atanh", lowerFloat<atanh>},
      {"torch.aten.erf", lowerFloat<call<&Element::erf>>},
      {"torch.aten.special_erf", lowerFloat<call<&Element::erf>>},
      {"torch.aten.erfc", lowerFloat<erfc>},
      {"torch.aten.erfinv", lowerFloat<erfinv>},
      {"torch.aten.sinc", lowerFloat<sinc>},
      {"torch.aten.angle", lowerFloat<angle>},
      {"torch.aten.deg2rad", lowerFloat<scaleAngle<true>>},
      {"torch.aten.rad2deg", lowerFloat<scaleAngle<false>>},
      {"torch.aten.sigmoid", lowerFloat<call<&Element::sigmoid>>},
      {"torch.aten.special_expit", lowerFloat<call<&Element::sigmoid>>},
      {"torch.aten.logit", lowerLogit},
      {"torch.aten.nan_to_num", lowerNanToNum},
  };
  return {"Functions of one tensor", rows};
}

} // namespace tw::lower
