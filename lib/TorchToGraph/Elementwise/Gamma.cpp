// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gamma function's relatives, in f64, rounded once.
#include "TorchToGraph/Builders/Elementwise/InDouble.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

Value times(const Element &e, double factor, Value x) { return e.mul(e.constant(factor), x); }
Value plus(const Element &e, Value x, double y) { return e.add(x, e.constant(y)); }

/// What x is beyond the nearest integer, in [-1/2, 1/2]: exact, also next to 0.
Value beyondInteger(Element &e, Value x) {
  return e.sub(x, math::RoundEvenOp::create(e.b, e.loc, x));
}

/// log gamma(x) for x >= 0.5: Lanczos' approximation with g = 7 and nine terms, within 1e-14.
Value logGammaRight(Element &e, Value x) {
  static constexpr double terms[] = {
      676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
      12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
  Value z = e.sub(x, e.constant(1)), sum = e.constant(0.99999999999980993);
  for (auto [i, term] : llvm::enumerate(terms))
    sum = e.add(sum, e.div(e.constant(term), e.add(z, e.constant(double(i + 1)))));
  Value t = e.add(z, e.constant(7.5));
  Value power = e.mul(e.add(z, e.constant(0.5)), e.log(t));
  return e.add(e.sub(e.add(e.constant(0.91893853320467274), power), t), e.log(sum));
}

/// Left of 0.5 by reflection: log(pi / |sin(pi x)|) - log gamma(1 - x). Infinite at integers.
Value logGamma(Element &e, Value x) {
  Value isLeft = e.lt(x, e.constant(0.5));
  Value right = logGammaRight(e, e.select(isLeft, e.sub(e.constant(1), x), x));
  Value beyond = beyondInteger(e, x), isNear = e.lt(e.abs(beyond), e.constant(1e-8));
  Value sine = math::SinOp::create(e.b, e.loc, e.mul(e.constant(M_PI), beyond));
  // Near an integer without the factor pi, with which denormal numbers lose bits.
  Value ratio = e.select(isNear, beyond, e.div(sine, e.constant(M_PI)));
  Value mirror = e.neg(e.log(e.abs(ratio)));
  Value value = e.select(isLeft, e.sub(mirror, right), right);
  Value isPole = e.conjunction(isLeft, e.eq(beyond, e.constant(0)));
  Value isInfinite = e.disjunction(isPole, e.eq(e.abs(x), e.constant(INFINITY)));
  return e.select(isInfinite, e.constant(INFINITY), value);
}

/// The derivative of log gamma: recurrence up to 10, then its asymptotic series; left of 0 by
/// reflection. -inf at 0 (inf at -0) and NaN at negative integers, as PyTorch.
Value digamma(Element &e, Value x) {
  Value isLeft = e.lt(x, e.constant(0)), ten = e.constant(10);
  Value y = e.select(isLeft, e.sub(e.constant(1), x), x), sum = e.constant(0);
  for (int step = 0; step < 10; ++step) {
    Value isSmall = e.lt(y, ten);
    sum = e.select(isSmall, e.sub(sum, e.reciprocal(y)), sum);
    y = e.select(isSmall, e.add(y, e.constant(1)), y);
  }
  static constexpr double series[] = {-1.0 / 12,  1.0 / 120,     -1.0 / 252, 1.0 / 240,
                                      -1.0 / 132, 691.0 / 32760, -1.0 / 12};
  Value inverse = e.reciprocal(e.mul(y, y)), tail = e.constant(0);
  for (double term : llvm::reverse(series))
    tail = e.mul(inverse, e.add(e.constant(term), tail));
  Value half = e.mul(e.constant(0.5), e.reciprocal(y));
  Value right = e.add(sum, e.add(e.sub(e.log(y), half), tail));
  Value beyond = beyondInteger(e, x);
  Value tangent = math::TanOp::create(e.b, e.loc, e.mul(e.constant(M_PI), beyond));
  Value mirror = e.sub(right, e.div(e.constant(M_PI), tangent));
  Value isPole = e.conjunction(isLeft, e.eq(beyond, e.constant(0)));
  Value left = e.select(isPole, e.constant(NAN), mirror);
  Value atZero = math::CopySignOp::create(e.b, e.loc, e.constant(INFINITY), e.neg(x));
  return e.select(e.eq(x, e.constant(0)), atZero, e.select(isLeft, left, right));
}

/// log of the multivariate gamma function: the sum of log gamma(x - j / 2), and a constant.
LogicalResult lowerMultivariateLogGamma(Lowering &ctx) {
  int64_t p = ctx.integer("p");
  if (p < 1 || p > 64)
    return ctx.refuse("p is " + std::to_string(p) + ", but must be from 1 to 64");
  return ctx.done(pointwise(
      ctx, ctx.arg("self"), ctx.resultDType(),
      [&](Element &e, ValueRange x) {
        Value sum = e.constant(0.25 * double(p * (p - 1)) * std::log(M_PI));
        for (int64_t j = 0; j < p; ++j)
          sum = e.add(sum, logGamma(e, e.sub(x[0], e.constant(0.5 * double(j)))));
        return sum;
      },
      DType::F64));
}

//===----------------------------------------------------------------------===//
// Incomplete gamma functions
//===----------------------------------------------------------------------===//

/// The loop `body(k, carried)` for k = 1, 2, ... up to `count` terms, an f64.
SmallVector<Value> loopOfTerms(
    const Element &e, Value count, ValueRange initial,
    llvm::function_ref<SmallVector<Value>(const Element &e, Value k, ValueRange carried)> body) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(e.b, e.loc, value);
  };
  Value end = arith::IndexCastOp::create(e.b, e.loc, e.b.getIndexType(),
                                         e.as(DType::I64).cast(count, e.dtype));
  SmallVector<Value> carried{e.constant(1.0)};
  llvm::append_range(carried, initial);
  auto loop = scf::ForOp::create(e.b, e.loc, index(0), end, index(1), carried,
                                 [&](OpBuilder &b, Location loc, Value, ValueRange now) {
                                   Element inside(b, loc, e.dtype);
                                   SmallVector<Value> next{plus(inside, now[0], 1)};
                                   llvm::append_range(next, body(inside, now[0], now.drop_front()));
                                   scf::YieldOp::create(b, loc, next);
                                 });
  return llvm::to_vector_of<Value>(loop.getResults().drop_front());
}

/// The sum of x^k / ((a + 1) ... (a + k)): what P(a, x) is over x^a e^-x / gamma(a + 1). Left of
/// a + 1 its terms fall as those of exp(-k^2 / 2a).
Value lowerSeries(const Element &e, Value a, Value x, Value count) {
  SmallVector<Value> initial{e.constant(1.0), e.constant(1.0)};
  return loopOfTerms(e, count, initial, [&](const Element &in, Value k, ValueRange carried) {
    Value term = in.div(in.mul(carried[0], x), in.add(a, k));
    return SmallVector<Value>{term, in.add(carried[1], term)};
  })[1];
}

/// Legendre's continued fraction by Lentz' method: what Q(a, x) is over x^a e^-x / gamma(a), from
/// a + 1 on.
Value upperFraction(const Element &e, Value a, Value x, Value count) {
  Value start = e.sub(plus(e, x, 1), a), inverse = e.reciprocal(start);
  SmallVector<Value> initial{start, e.constant(1e300), inverse, inverse};
  return loopOfTerms(e, count, initial, [&](const Element &in, Value k, ValueRange carried) {
    Value numerator = in.mul(k, in.sub(a, k)), denominator = plus(in, carried[0], 2);
    Value d = in.reciprocal(in.add(in.mul(numerator, carried[2]), denominator));
    Value c = in.add(denominator, in.div(numerator, carried[1]));
    return SmallVector<Value>{denominator, c, d, in.mul(carried[3], in.mul(c, d))};
  })[3];
}

/// Q(a, x) of a large a: Temme's expansion, of which one term is enough from 2^14 on.
Value upperOfLarge(const Element &e, Value a, Value x) {
  Value mu = e.div(e.sub(x, a), a);
  Value half = e.max(e.sub(mu, e.log1p(mu)), e.constant(0.0));
  Value size = e.sqrt(times(e, 2, half));
  Value eta = math::CopySignOp::create(e.b, e.loc, size, mu);
  Value isNear = e.lt(size, e.constant(0.02)), one = e.constant(1.0);
  Value series = plus(e, times(e, 1.0 / 864, eta), -2.0 / 135);
  series = plus(e, e.mul(plus(e, e.mul(series, eta), 1.0 / 12), eta), -1.0 / 3);
  Value far =
      e.sub(e.reciprocal(e.select(isNear, one, mu)), e.reciprocal(e.select(isNear, one, eta)));
  Value scale = e.rsqrt(times(e, 2 * M_PI, a));
  Value rest = e.mul(e.mul(e.exp(e.neg(e.mul(a, half))), scale), e.select(isNear, series, far));
  Value place = e.mul(eta, e.sqrt(times(e, 0.5, a)));
  return e.add(times(e, 0.5, math::ErfcOp::create(e.b, e.loc, place)), rest);
}

/// P(a, x), or Q(a, x) = 1 - P(a, x) where `isUpper`; each where it is the smaller one, and 1 minus
/// the other elsewhere.
template <bool isUpper>
Value incompleteGamma(Element &e, Value a, Value x) {
  constexpr double large = 1 << 14;
  Value zero = e.constant(0.0), one = e.constant(1.0), infinity = e.constant(double(INFINITY));
  Value isSane = e.conjunction(e.gt(a, zero), e.lt(a, e.constant(large)));
  Value order = e.select(isSane, a, one), isRight = e.ge(x, e.add(order, one));
  Value terms = plus(e, times(e, 9, e.sqrt(order)), 60), none = zero;
  Value left = lowerSeries(e, order, x, e.select(isRight, none, terms));
  Value right = upperFraction(e, order, e.select(isRight, x, plus(e, order, 1)),
                              e.select(isRight, terms, none));
  Value factor = e.exp(e.sub(e.sub(e.mul(order, e.log(x)), x), logGamma(e, plus(e, order, 1))));
  Value value = e.mul(factor, e.select(isRight, e.mul(right, order), left));
  Value isOther = isUpper ? e.as(DType::Bool).complement(isRight) : isRight;
  value = e.select(isOther, e.sub(one, value), value);
  Value ofLarge = upperOfLarge(e, e.select(isSane, e.constant(large), a), x);
  value = e.select(e.ge(a, e.constant(large)), isUpper ? ofLarge : e.sub(one, ofLarge), value);
  // The ends.
  Value nothing = e.constant(isUpper ? 1.0 : 0.0), all = e.constant(isUpper ? 0.0 : 1.0);
  value = e.select(e.eq(x, infinity), all, value);
  value = e.select(e.eq(a, infinity), e.select(e.eq(x, infinity), e.constant(NAN), nothing), value);
  value = e.select(e.eq(x, zero), nothing, value);
  value = e.select(e.eq(a, zero), e.select(e.gt(x, zero), all, e.constant(NAN)), value);
  value = e.select(e.disjunction(e.lt(a, zero), e.lt(x, zero)), e.constant(NAN), value);
  return e.select(e.disjunction(e.isNan(a), e.isNan(x)), e.constant(NAN), value);
}

template <bool isUpper>
LogicalResult lowerIncompleteGamma(Lowering &ctx) {
  return ctx.done(pointwise(
      ctx, {ctx.arg("self"), ctx.arg("other")}, ctx.resultDType(),
      [](Element &e, ValueRange x) { return incompleteGamma<isUpper>(e, x[0], x[1]); },
      DType::F64));
}

} // namespace

Family gammaFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.lgamma", lowerInDouble<logGamma>},
      {"torch.aten.digamma", lowerInDouble<digamma>},
      {"torch.aten.mvlgamma", lowerMultivariateLogGamma},
      {"torch.aten.igamma", lowerIncompleteGamma<false>},
      {"torch.aten.igammac", lowerIncompleteGamma<true>},
      {"torch.aten.special_gammainc", lowerIncompleteGamma<false>},
      {"torch.aten.special_gammaincc", lowerIncompleteGamma<true>},
  };
  return {"Gamma functions", rows};
}

} // namespace tw::lower
