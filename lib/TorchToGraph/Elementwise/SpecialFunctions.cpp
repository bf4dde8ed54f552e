// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the normal distribution, of floats' bits and of integers, and the operators that
// PyTorch knows under a second name.
#include "TorchToGraph/Builders/Elementwise/InDouble.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

/// The normal distribution function: erfc(-x / sqrt 2) / 2.
Value normalCdf(Element &e, Value x) {
  Value scaled = e.mul(x, e.constant(-M_SQRT1_2));
  return e.mul(e.constant(0.5), math::ErfcOp::create(e.b, e.loc, scaled));
}

/// -x log x: 0 at 0 and -inf below.
Value entropy(Element &e, Value x) {
  Value zero = e.constant(0), value = e.neg(e.mul(x, e.log(x)));
  value = e.select(e.eq(x, zero), zero, value);
  return e.select(e.lt(x, zero), e.constant(-INFINITY), value);
}

LogicalResult lowerLdexp(Lowering &ctx) {
  return ctx.done(
      pointwise(ctx, {ctx.arg("self"), ctx.arg("other")}, ctx.resultDType(),
                [](Element &e, ValueRange x) { return e.mul(x[0], e.pow(e.constant(2), x[1])); }));
}

/// The fraction in [0.5, 1) and the exponent of an f64; of 0, infinity and NaN the number itself
/// and 0.
std::pair<Value, Value> takenApart(const Element &e, Value x) {
  constexpr double smallestNormal = 2.2250738585072014e-308;
  constexpr int64_t exponentBits = 0x7ff, bias = 1022, mantissaBits = 52, scale = 54;
  Element bitsOf = e.as(DType::I64);
  Value isSmall = e.lt(e.abs(x), e.constant(smallestNormal));
  Value normal = e.select(isSmall, e.mul(x, e.constant(0x1p54)), x);
  Value bits = arith::BitcastOp::create(e.b, e.loc, bitsOf.type(), normal);
  Value shifted =
      arith::ShRUIOp::create(e.b, e.loc, bits, bitsOf.constant(mantissaBits)).getResult();
  Value exponent = bitsOf.conjunction(shifted, bitsOf.constant(exponentBits));
  Value down = bitsOf.select(isSmall, bitsOf.constant(bias + scale), bitsOf.constant(bias));
  exponent = bitsOf.sub(exponent, down);
  Value rest = bitsOf.conjunction(bits, bitsOf.constant(~(exponentBits << mantissaBits)));
  rest = bitsOf.disjunction(rest, bitsOf.constant(bias << mantissaBits));
  Value fraction = arith::BitcastOp::create(e.b, e.loc, e.type(), rest);
  Value isOther = e.disjunction(e.eq(x, e.constant(0)), e.isNan(e.sub(x, x))); // inf - inf, too
  return {e.select(isOther, x, fraction), bitsOf.select(isOther, bitsOf.constant(0), exponent)};
}

LogicalResult lowerFrexp(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  DType dtype = self.dtype;
  if (!isFloat(dtype))
    return ctx.refuse("its argument must be floating");
  auto body = [&](OpBuilder &b, Location loc, ValueRange x) {
    Element e(b, loc, DType::F64);
    auto [fraction, exponent] = takenApart(e, e.cast(x[0], dtype));
    return SmallVector<Value>{e.as(dtype).cast(fraction, DType::F64),
                              e.as(DType::I32).cast(exponent, DType::I64)};
  };
  SmallVector<Tensor> results = pointwiseMany(ctx, self, {dtype, DType::I32}, body);
  return ctx.done({results[0], results[1]});
}

/// The next number of the dtype from x on toward y: its bits, plus or minus 1.
LogicalResult lowerNextAfter(Lowering &ctx) {
  DType dtype = ctx.resultDType();
  if (dtype != DType::F32 && dtype != DType::F64)
    return ctx.refuse("its dtype must be f32 or f64");
  return ctx.done(
      pointwise(ctx, {ctx.arg("self"), ctx.arg("other")}, dtype, [&](Element &e, ValueRange x) {
        Element bitsOf = e.as(dtype == DType::F32 ? DType::I32 : DType::I64);
        auto toFloat = [&](Value bits) -> Value {
          return arith::BitcastOp::create(e.b, e.loc, e.type(), bits);
        };
        Value zero = e.constant(0);
        Value bits = arith::BitcastOp::create(e.b, e.loc, bitsOf.type(), x[0]);
        Value isAway = bitsOf.as(DType::Bool).exclusive(e.lt(x[0], x[1]), e.lt(x[0], zero));
        Value step = bitsOf.select(isAway, bitsOf.constant(1), bitsOf.constant(-1));
        Value next = toFloat(bitsOf.add(bits, step));
        Value smallest = math::CopySignOp::create(e.b, e.loc, toFloat(bitsOf.constant(1)), x[1]);
        next = e.select(e.eq(x[0], zero), smallest, next);
        next = e.select(e.eq(x[0], x[1]), x[1], next);
        Value isNan = e.disjunction(e.isNan(x[0]), e.isNan(x[1]));
        return e.select(isNan, e.add(x[0], x[1]), next);
      }));
}

LogicalResult lowerIsReal(Lowering &ctx) {
  Scalar yes = Scalar::ofBool(ctx.b.getContext(), true);
  return ctx.done(ctx.filled(ctx.sizesOf(ctx.tensor("self")), DType::Bool, yes));
}

// -- Integers.

/// Euclid's algorithm, in as many steps as the dtype can need.
Value greatestDivisor(const Element &e, Value x, Value y) {
  auto index = [&](int64_t value) {
    return Value(arith::ConstantIndexOp::create(e.b, e.loc, value));
  };
  auto loop = scf::ForOp::create(
      e.b, e.loc, index(0), index(12 * info(e.dtype).bytes), index(1),
      ValueRange{e.abs(x), e.abs(y)}, [&](OpBuilder &b, Location loc, Value, ValueRange pair) {
        Element inside(b, loc, e.dtype);
        Value isDone = inside.eq(pair[1], inside.constant(0));
        Value divisor = inside.select(isDone, inside.constant(1), pair[1]);
        Value rest = isUnsigned(e.dtype) ? Value(arith::RemUIOp::create(b, loc, pair[0], divisor))
                                         : Value(arith::RemSIOp::create(b, loc, pair[0], divisor));
        Value next = inside.select(isDone, pair[0], pair[1]);
        scf::YieldOp::create(b, loc, ValueRange{next, inside.select(isDone, pair[1], rest)});
      });
  return loop.getResult(0);
}

template <bool isMultiple>
LogicalResult lowerDivisor(Lowering &ctx) {
  // As C++ does, whose arithmetic is that of int at least: a multiple that does not fit the dtype
  // loses its upper bits at the end.
  DType result = ctx.resultDType(), compute = info(result).bytes < 4 ? DType::I32 : result;
  Tensor left = castTo(ctx, ctx.tensor("self"), result);
  Tensor right = castTo(ctx, ctx.tensor("other"), result);
  return ctx.done(pointwise(
      ctx, {left, right}, result,
      [](Element &e, ValueRange x) {
        Value divisor = greatestDivisor(e, x[0], x[1]);
        if (!isMultiple)
          return divisor;
        Value isZero = e.eq(divisor, e.constant(0));
        Value safe = e.select(isZero, e.constant(1), divisor);
        return e.abs(e.mul(e.div(x[0], safe), x[1]));
      },
      compute));
}

// -- Second names.

constexpr std::pair<StringRef, StringRef> aliases[] = {
    {"torch.aten.arccos", "torch.aten.acos"},
    {"torch.aten.arccosh", "torch.aten.acosh"},
    {"torch.aten.arcsin", "torch.aten.asin"},
    {"torch.aten.arcsinh", "torch.aten.asinh"},
    {"torch.aten.arctanh", "torch.aten.atanh"},
    {"torch.aten.special_digamma", "torch.aten.digamma"},
    {"torch.aten.special_psi", "torch.aten.digamma"},
    {"torch.aten.special_erfc", "torch.aten.erfc"},
    {"torch.aten.special_erfinv", "torch.aten.erfinv"},
    {"torch.aten.special_exp2", "torch.aten.exp2"},
    {"torch.aten.special_expm1", "torch.aten.expm1"},
    {"torch.aten.special_gammaln", "torch.aten.lgamma"},
    {"torch.aten.special_log1p", "torch.aten.log1p"},
    {"torch.aten.special_logit", "torch.aten.logit"},
    {"torch.aten.special_round", "torch.aten.round.decimals"},
    {"torch.aten.special_sinc", "torch.aten.sinc"},
    {"torch.aten.special_xlogy", "torch.aten.xlogy.Tensor"},
    {"torch.aten.special_xlogy.self_scalar", "torch.aten.xlogy.Scalar_Self"},
    {"torch.aten.special_xlogy.other_scalar", "torch.aten.xlogy.Scalar_Other"},
    {"torch.aten.special_xlog1py.self_scalar", "torch.aten.special_xlog1py"},
    {"torch.aten.special_xlog1py.other_scalar", "torch.aten.special_xlog1py"},
};

/// The lowering of the operator's first name, which has the same arguments.
LogicalResult lowerAlias(Lowering &ctx) {
  for (auto [alias, first] : aliases)
    if (ctx.name() == alias)
      if (LoweringFn lower = findLowering(first))
        return lower(ctx);
  return ctx.refuse("it is not supported");
}

} // namespace

Family specialFunctionsFamily() {
  static const auto *all = [] {
    auto *rows = new std::vector<LoweringRow>{
        {"torch.aten.special_ndtr", lowerInDouble<normalCdf>},
        {"torch.aten.special_entr", lowerInDouble<entropy>},
        {"torch.aten.ldexp.Tensor", lowerLdexp},
        {"torch.aten.isreal", lowerIsReal},
        {"torch.aten.frexp.Tensor", lowerFrexp},
        {"torch.aten.nextafter", lowerNextAfter},
        {"torch.aten.gcd", lowerDivisor<false>},
        {"torch.aten.lcm", lowerDivisor<true>},
    };
    for (auto [alias, first] : aliases)
      rows->push_back({alias, lowerAlias});
    return rows;
  }();
  return {"Special functions, second names", *all};
}

} // namespace tw::lower
