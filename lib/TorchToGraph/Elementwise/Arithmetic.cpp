// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise arithmetic of two or three operands: tensors or numbers, promoted as the program
// says.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

using BinaryFn = Value (*)(const Element &, Value, Value);

/// The first two arguments, whatever the overload calls them, in opmath of the result.
template <BinaryFn function>
static LogicalResult lowerBinary(Lowering &ctx) {
  return ctx.done(pointwise(ctx, {ctx.arg(0u), ctx.arg(1u)}, ctx.resultDType(),
                            [](Element &e, ValueRange x) { return function(e, x[0], x[1]); }));
}

/// As lowerBinary for functions that jump: PyTorch rounds both operands to the result's dtype,
/// numbers too.
template <BinaryFn function>
static LogicalResult lowerBinaryOfRounded(Lowering &ctx) {
  DType result = ctx.resultDType(), compute = opmath(result);
  return ctx.done(pointwiseTyped(ctx, {{ctx.arg(0u), result}, {ctx.arg(1u), result}}, result,
                                 [&](OpBuilder &b, Location loc, ValueRange x) {
                                   Element e(b, loc, compute);
                                   Value value =
                                       function(e, e.cast(x[0], result), e.cast(x[1], result));
                                   return e.as(result).cast(value, compute);
                                 }));
}

/// For functions that are only defined on floats.
template <BinaryFn function>
static LogicalResult lowerFloatBinary(Lowering &ctx) {
  if (!isFloat(ctx.resultDType()))
    return ctx.refuse("its result must be floating");
  return lowerBinary<function>(ctx);
}

template <Value (Element::*member)(Value, Value) const>
static Value call(const Element &e, Value x, Value y) {
  return (e.*member)(x, y);
}

template <typename Op>
static Value emit(const Element &e, Value x, Value y) {
  return Op::create(e.b, e.loc, x, y);
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// x + alpha * y or x - alpha * y.
template <bool subtract, unsigned first, unsigned second>
static LogicalResult lowerSum(Lowering &ctx) {
  Scalar alpha = ctx.scalar("alpha", 1);
  bool plain = alpha.constantNumber() == 1;
  return ctx.done(pointwise(ctx, {ctx.arg(first), ctx.arg(second), alpha}, ctx.resultDType(),
                            [&](Element &e, ValueRange x) {
                              Value y = plain ? x[1] : e.mul(x[2], x[1]);
                              return subtract ? e.sub(x[0], y) : e.add(x[0], y);
                            }));
}

/// self + value * a * b or self + value * a / b.
template <bool divide>
static LogicalResult lowerAddProduct(Lowering &ctx) {
  Scalar value = ctx.scalar("value", 1);
  bool plain = value.constantNumber() == 1;
  return ctx.done(pointwise(ctx, {ctx.arg("self"), ctx.arg("tensor1"), ctx.arg("tensor2"), value},
                            ctx.resultDType(), [&](Element &e, ValueRange x) {
                              Value scaled = plain ? x[1] : e.mul(x[3], x[1]);
                              return e.add(x[0],
                                           divide ? e.div(scaled, x[2]) : e.mul(scaled, x[2]));
                            }));
}

/// a * b + c, rounded twice as PyTorch's own kernel does.
static LogicalResult lowerMultiplyAdd(Lowering &ctx) {
  return ctx.done(
      pointwise(ctx, {ctx.arg("a"), ctx.arg("b"), ctx.arg("c")}, ctx.resultDType(),
                [](Element &e, ValueRange x) { return e.add(e.mul(x[0], x[1]), x[2]); }));
}

/// As PyTorch, exact at both ends: for weights from 0.5 on it starts at `end`.
static LogicalResult lowerLerp(Lowering &ctx) {
  return ctx.done(pointwise(ctx, {ctx.arg("self"), ctx.arg("end"), ctx.arg("weight")},
                            ctx.resultDType(), [](Element &e, ValueRange x) {
                              Value difference = e.sub(x[1], x[0]);
                              Value low = e.add(x[0], e.mul(x[2], difference));
                              Value rest = e.sub(e.constant(1), x[2]);
                              Value high = e.sub(x[1], e.mul(difference, rest));
                              Value isLow = e.lt(e.abs(x[2]), e.constant(0.5));
                              return e.select(isLow, low, high);
                            }));
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

static Value truncDivide(const Element &e, Value x, Value y) {
  Value quotient = e.div(x, y);
  return isFloat(e.dtype) ? Value(math::TruncOp::create(e.b, e.loc, quotient)) : quotient;
}

static LogicalResult lowerDivMode(Lowering &ctx) {
  std::string mode = ctx.string("rounding_mode");
  if (mode == "floor")
    return lowerBinary<call<&Element::floorDiv>>(ctx);
  if (mode == "trunc")
    return lowerBinary<truncDivide>(ctx);
  return lowerBinary<call<&Element::div>>(ctx);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// By squaring; negative exponents give 0, or +-1 where |x| is 1.
static Value integerPower(const Element &e, Value x, Value exponent) {
  Value zero = arith::ConstantIndexOp::create(e.b, e.loc, 0);
  Value one = arith::ConstantIndexOp::create(e.b, e.loc, 1);
  Value bits = arith::ConstantIndexOp::create(e.b, e.loc, 8 * info(e.dtype).bytes);
  Value unit = e.constant(1);
  auto loop = scf::ForOp::create(
      e.b, e.loc, zero, bits, one, ValueRange{unit, x, exponent},
      [&](OpBuilder &b, Location loc, Value, ValueRange state) {
        Element in(b, loc, e.dtype);
        Value isOdd = in.ne(in.conjunction(state[2], unit), in.constant(0));
        Value product = in.select(isOdd, in.mul(state[0], state[1]), state[0]);
        Value rest = arith::ShRUIOp::create(b, loc, state[2], unit);
        scf::YieldOp::create(b, loc, ValueRange{product, in.mul(state[1], state[1]), rest});
      });
  Value power = loop.getResult(0);
  if (isUnsigned(e.dtype))
    return power;
  Value isOdd = e.ne(e.conjunction(exponent, unit), e.constant(0));
  Value minusOne = e.constant(-1);
  Value inverse =
      e.select(e.eq(x, unit), unit,
               e.select(e.eq(x, minusOne), e.select(isOdd, minusOne, unit), e.constant(0)));
  return e.select(e.lt(exponent, e.constant(0)), inverse, power);
}

static Value power(const Element &e, Value x, Value y) {
  return isFloat(e.dtype) ? e.pow(x, y) : integerPower(e, x, y);
}

/// The exponents that PyTorch computes without pow; null for others.
static Value easyPower(const Element &e, Value x, double exponent) {
  Value square = e.mul(x, x);
  if (exponent == 2)
    return square;
  if (exponent == 3)
    return e.mul(square, x);
  if (exponent == 1)
    return x;
  if (!isFloat(e.dtype))
    return nullptr;
  if (exponent == 0.5)
    return e.sqrt(x);
  if (exponent == -0.5)
    return e.rsqrt(x);
  if (exponent == -1)
    return e.reciprocal(x);
  if (exponent == -2)
    return e.reciprocal(square);
  return nullptr;
}

static LogicalResult lowerPower(Lowering &ctx) {
  auto exponent = ctx.arg(1u).scalar();
  auto known = exponent ? exponent->constantNumber() : std::nullopt;
  return ctx.done(
      pointwise(ctx, {ctx.arg(0u), ctx.arg(1u)}, ctx.resultDType(), [&](Element &e, ValueRange x) {
        Value easy = known ? easyPower(e, x[0], *known) : Value();
        return easy ? easy : power(e, x[0], x[1]);
      }));
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

/// The number where only one operand is NaN.
template <typename Op, Value (Element::*member)(Value, Value) const>
static Value ignoringNan(const Element &e, Value x, Value y) {
  return isFloat(e.dtype) ? emit<Op>(e, x, y) : (e.*member)(x, y);
}

static LogicalResult lowerClamp(Lowering &ctx) {
  SmallVector<Operand> inputs = {ctx.arg("self")};
  bool hasMin = ctx.has("min"), hasMax = ctx.has("max");
  if (hasMin)
    inputs.push_back(ctx.arg("min"));
  if (hasMax)
    inputs.push_back(ctx.arg("max"));
  return ctx.done(pointwise(ctx, inputs, ctx.resultDType(), [&](Element &e, ValueRange x) {
    Value value = hasMin ? e.max(x[0], x[1]) : x[0];
    return hasMax ? e.min(value, x.back()) : value;
  }));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// MLIR folds atan2 of two constant zeros to NaN; it is 0 or pi, with the sign of y.
static Value arcTangent(const Element &e, Value y, Value x) {
  Value zero = e.constant(0);
  Value isNegative = e.lt(math::CopySignOp::create(e.b, e.loc, e.constant(1), x), zero);
  Value atOrigin =
      math::CopySignOp::create(e.b, e.loc, e.select(isNegative, e.constant(M_PI), zero), y);
  Value isOrigin = e.conjunction(e.eq(x, zero), e.eq(y, zero));
  return e.select(isOrigin, atOrigin, math::Atan2Op::create(e.b, e.loc, y, x));
}

static Value hypot(const Element &e, Value x, Value y) {
  x = e.abs(x), y = e.abs(y);
  Value large = e.max(x, y), small = e.min(x, y);
  Value ratio = e.div(small, large);
  Value scaled = e.mul(large, e.sqrt(e.add(e.constant(1), e.mul(ratio, ratio))));
  // Infinity beside NaN too.
  Value infinity = e.constant(INFINITY);
  Value isInfinite = e.disjunction(e.eq(x, infinity), e.eq(y, infinity));
  Value known = e.select(isInfinite, infinity, large);
  return e.select(e.disjunction(isInfinite, e.eq(large, e.constant(0))), known, scaled);
}

/// log(exp(x) + exp(y)) without overflow; `unit` is log of the base.
template <bool base2>
static Value logAddExp(const Element &e, Value x, Value y) {
  Value large = e.max(x, y);
  Value gap = e.neg(e.abs(e.sub(x, y)));
  Value isInfinite = e.conjunction(e.eq(x, y), e.eq(e.abs(x), e.constant(INFINITY)));
  Value scale = e.constant(base2 ? M_LN2 : 1.0);
  Value sum = e.add(large, e.div(e.log1p(e.exp(e.mul(gap, scale))), scale));
  return e.select(isInfinite, x, sum);
}

/// x * log(y) or x * log1p(y): 0 where x is 0, except that NaN stays.
template <bool plusOne>
static Value xLogY(const Element &e, Value x, Value y) {
  Value product = e.mul(x, plusOne ? e.log1p(y) : e.log(y));
  Value zeroed = e.select(e.eq(x, e.constant(0)), e.constant(0), product);
  return e.select(e.isNan(y), y, zeroed);
}

/// 0 for NaN too.
static Value heaviside(const Element &e, Value x, Value y) {
  Value step = e.select(e.gt(x, e.constant(0)), e.constant(1), e.constant(0));
  return e.select(e.eq(x, e.constant(0)), y, step);
}

static Value copySign(const Element &e, Value x, Value y) {
  return math::CopySignOp::create(e.b, e.loc, x, y);
}

#define TW_BINARY(name, function)                                                                  \
  {"torch.aten." name ".Tensor", function}, { "torch.aten." name ".Scalar", function }
static constexpr LoweringRow rows[] = {
    TW_BINARY("add", (lowerSum<false, 0, 1>)),
    TW_BINARY("sub", (lowerSum<true, 0, 1>)),
    TW_BINARY("subtract", (lowerSum<true, 0, 1>)),
    TW_BINARY("rsub", (lowerSum<true, 1, 0>)),
    TW_BINARY("mul", lowerBinary<call<&Element::mul>>),
    TW_BINARY("multiply", lowerBinary<call<&Element::mul>>),
    TW_BINARY("div", lowerBinary<call<&Element::div>>),
    TW_BINARY("divide", lowerBinary<call<&Element::div>>),
    TW_BINARY("true_divide", lowerBinary<call<&Element::div>>),
    {"torch.aten.div.Tensor_mode", lowerDivMode},
    {"torch.aten.div.Scalar_mode", lowerDivMode},
    {"torch.aten.divide.Tensor_mode", lowerDivMode},
    {"torch.aten.divide.Scalar_mode", lowerDivMode},
    {"torch.aten.floor_divide", lowerBinary<call<&Element::floorDiv>>},
    {"torch.aten.floor_divide.Scalar", lowerBinary<call<&Element::floorDiv>>},
    TW_BINARY("remainder", lowerBinaryOfRounded<call<&Element::remainder>>),
    {"torch.aten.remainder.Scalar_Tensor", lowerBinaryOfRounded<call<&Element::remainder>>},
    TW_BINARY("fmod", lowerBinaryOfRounded<call<&Element::fmod>>),
    {"torch.aten.pow.Tensor_Tensor", lowerPower},
    {"torch.aten.pow.Tensor_Scalar", lowerPower},
    {"torch.aten.pow.Scalar", lowerPower},
    {"torch.aten.float_power.Tensor_Tensor", lowerPower},
    {"torch.aten.float_power.Tensor_Scalar", lowerPower},
    {"torch.aten.float_power.Scalar", lowerPower},
    {"torch.aten.maximum", lowerBinary<call<&Element::max>>},
    {"torch.aten.minimum", lowerBinary<call<&Element::min>>},
    {"torch.aten.max.other", lowerBinary<call<&Element::max>>},
    {"torch.aten.min.other", lowerBinary<call<&Element::min>>},
    {"torch.aten.fmax", lowerBinary<ignoringNan<arith::MaxNumFOp, &Element::max>>},
    {"torch.aten.fmin", lowerBinary<ignoringNan<arith::MinNumFOp, &Element::min>>},
    {"torch.aten.clamp", lowerClamp},
    {"torch.aten.clamp.Tensor", lowerClamp},
    {"torch.aten.clip", lowerClamp},
    {"torch.aten.clip.Tensor", lowerClamp},
    {"torch.aten.clamp_min", lowerBinary<call<&Element::max>>},
    {"torch.aten.clamp_min.Tensor", lowerBinary<call<&Element::max>>},
    {"torch.aten.clamp_max", lowerBinary<call<&Element::min>>},
    {"torch.aten.clamp_max.Tensor", lowerBinary<call<&Element::min>>},
    {"torch.aten.addcmul", lowerAddProduct<false>},
    {"torch.aten.addcdiv", lowerAddProduct<true>},
    {"torch.prims.fma", lowerMultiplyAdd},
    {"torch.aten.lerp.Scalar", lowerLerp},
    {"torch.aten.lerp.Tensor", lowerLerp},
    {"torch.aten.atan2", lowerFloatBinary<arcTangent>},
    {"torch.aten.arctan2", lowerFloatBinary<arcTangent>},
    TW_BINARY("copysign", lowerFloatBinary<copySign>),
    {"torch.aten.hypot", lowerFloatBinary<hypot>},
    {"torch.aten.logaddexp", lowerFloatBinary<logAddExp<false>>},
    {"torch.aten.logaddexp2", lowerFloatBinary<logAddExp<true>>},
    {"torch.aten.xlogy.Tensor", lowerFloatBinary<xLogY<false>>},
    {"torch.aten.xlogy.Scalar_Self", lowerFloatBinary<xLogY<false>>},
    {"torch.aten.xlogy.Scalar_Other", lowerFloatBinary<xLogY<false>>},
    {"torch.aten.special_xlog1py", lowerFloatBinary<xLogY<true>>},
    {"torch.aten.heaviside", lowerBinary<heaviside>},
};
#undef TW_BINARY

Family arithmeticFamily() { return {"Arithmetic", rows}; }

} // namespace tw::lower
