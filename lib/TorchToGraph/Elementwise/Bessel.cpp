// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bessel functions, relatives of the error function, and Hurwitz' zeta, in f64, rounded once.
#include "TorchToGraph/Builders/Elementwise/Chebyshev.h"
#include "TorchToGraph/Builders/Elementwise/InDouble.h"
#include "TorchToGraph/Elementwise/BesselTables.h"
#include "TorchToGraph/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {
namespace {

Value times(const Element &e, double factor, Value x) { return e.mul(e.constant(factor), x); }
Value minus(const Element &e, Value x, double y) { return e.sub(x, e.constant(y)); }
Value over(const Element &e, double x, Value y) { return e.div(e.constant(x), y); }
Value sine(const Element &e, Value x) { return math::SinOp::create(e.b, e.loc, x); }
Value cosine(const Element &e, Value x) { return math::CosOp::create(e.b, e.loc, x); }

/// An odd function of which `size` is the value at |x|.
template <int n>
Value mirrored(const Element &e, Value size, Value x) {
  return n == 0 ? size : e.select(e.lt(x, e.constant(0)), e.neg(size), size);
}

//===----------------------------------------------------------------------===//
// Modified Bessel functions
//===----------------------------------------------------------------------===//

/// exp(-|x|) I_n(x).
template <int n>
Value scaledI(Element &e, Value x) {
  ArrayRef<double> nearTerms = i0Near, farTerms = i0Far;
  if (n == 1)
    nearTerms = i1Near, farTerms = i1Far;
  Value size = e.abs(x), eight = e.constant(8.0);
  Value near = chebyshevSeries(e, nearTerms, minus(e, times(e, 0.25, size), 1));
  if (n == 1)
    near = e.mul(near, size);
  Value large = e.max(size, eight);
  Value far = e.mul(chebyshevSeries(e, farTerms, minus(e, over(e, 16, large), 1)), e.rsqrt(large));
  return mirrored<n>(e, e.select(e.le(size, eight), near, far), x);
}

template <int n>
Value besselI(Element &e, Value x) {
  return e.mul(e.exp(e.abs(x)), scaledI<n>(e, x));
}

/// Infinite at 0, NaN below.
Value onPositive(const Element &e, Value x, Value value, double atZero) {
  value = e.select(e.eq(x, e.constant(0)), e.constant(atZero), value);
  return e.select(e.lt(x, e.constant(0)), e.constant(NAN), value);
}

template <int n, bool isScaled>
Value besselK(Element &e, Value x) {
  ArrayRef<double> nearTerms = k0Near, farTerms = k0Far;
  if (n == 1)
    nearTerms = k1Near, farTerms = k1Far;
  Value two = e.constant(2.0), small = e.min(x, two), large = e.max(x, two);
  Value series = chebyshevSeries(e, nearTerms, minus(e, times(e, 0.5, e.mul(small, small)), 1));
  Value logarithm = e.mul(e.log(times(e, 0.5, small)), besselI<n>(e, small));
  Value near = n == 0 ? e.sub(series, logarithm)
                      : e.add(e.add(e.mul(small, series), logarithm), e.reciprocal(small));
  if (isScaled)
    near = e.mul(near, e.exp(small));
  Value far = e.mul(chebyshevSeries(e, farTerms, minus(e, over(e, 4, large), 1)), e.rsqrt(large));
  if (!isScaled)
    far = e.mul(far, e.exp(e.neg(large)));
  return onPositive(e, x, e.select(e.le(x, two), near, far), INFINITY);
}

//===----------------------------------------------------------------------===//
// Bessel functions
//===----------------------------------------------------------------------===//

/// J_n for |x| <= 8.
template <int n>
Value nearJ(const Element &e, Value size) {
  ArrayRef<double> terms = j0Near;
  if (n == 1)
    terms = j1Near;
  Value value = chebyshevSeries(e, terms, minus(e, times(e, 1.0 / 32, e.mul(size, size)), 1));
  return n == 0 ? value : e.mul(value, size);
}

/// J_n, or Y_n, from 8 on: sqrt(2 / (pi x)) times P cos - Q sin, or P sin + Q cos, of the phase.
template <int n, bool isY>
Value farBessel(const Element &e, Value size) {
  ArrayRef<double> cosines = j0Cosine, sines = j0Sine;
  if (n == 1)
    cosines = j1Cosine, sines = j1Sine;
  Value inverse = over(e, 8, size), t = minus(e, times(e, 2, e.mul(inverse, inverse)), 1);
  Value p = chebyshevSeries(e, cosines, t), q = e.div(chebyshevSeries(e, sines, t), size);
  Value phase = minus(e, size, M_PI_4 + n * M_PI_2);
  Value c = cosine(e, phase), s = sine(e, phase);
  Value sum = isY ? e.add(e.mul(p, s), e.mul(q, c)) : e.sub(e.mul(p, c), e.mul(q, s));
  return e.mul(e.sqrt(over(e, M_2_PI, size)), sum);
}

template <int n>
Value besselJ(Element &e, Value x) {
  Value size = e.abs(x), eight = e.constant(8.0);
  Value far = farBessel<n, false>(e, e.max(size, eight));
  Value value = e.select(e.le(size, eight), nearJ<n>(e, size), far);
  Value isInfinite = e.eq(size, e.constant(double(INFINITY)));
  return mirrored<n>(e, e.select(isInfinite, e.constant(0), value), x);
}

template <int n>
Value besselY(Element &e, Value x) {
  Value eight = e.constant(8.0), small = e.min(x, eight);
  ArrayRef<double> terms = y0Near;
  if (n == 1)
    terms = y1Near;
  Value series = chebyshevSeries(e, terms, minus(e, times(e, 1.0 / 32, e.mul(small, small)), 1));
  Value logarithm = e.mul(e.log(small), nearJ<n>(e, small));
  if (n == 1) {
    series = e.mul(series, small);
    logarithm = e.sub(logarithm, e.reciprocal(small));
  }
  Value near = e.add(series, times(e, M_2_PI, logarithm));
  Value far = farBessel<n, true>(e, e.max(x, eight));
  return onPositive(e, x, e.select(e.le(x, eight), near, far), -INFINITY);
}

/// sin(x) / x.
Value sphericalJ0(Element &e, Value x) {
  Value value = e.div(sine(e, x), x);
  value = e.select(e.eq(x, e.constant(0)), e.constant(1), value);
  return e.select(e.eq(e.abs(x), e.constant(double(INFINITY))), e.constant(0), value);
}

//===----------------------------------------------------------------------===//
// The error function's relatives
//===----------------------------------------------------------------------===//

/// From here on the asymptotic series is exact in f64, where the other one is off by 1e-14 and more
/// of ever smaller values.
constexpr double farRight = 100;

/// exp(x^2) erfc(x) far right: (1 - 1/(2 x^2) + 3/(4 x^4) - 15/(8 x^6)) / (x sqrt(pi)).
Value scaledErfcFar(Element &e, Value x) {
  Value inverse = over(e, 1, x), square = e.mul(inverse, inverse);
  Value rest = minus(e, e.mul(square, minus(e, times(e, -1.875, square), -0.75)), 0.5);
  Value series = minus(e, e.mul(square, rest), -1);
  return times(e, M_2_SQRTPI / 2, e.mul(inverse, series));
}

/// exp(x^2) erfc(x).
Value scaledErfc(Element &e, Value x) {
  Value size = e.abs(x);
  Value place = over(e, 4, e.add(size, e.constant(4)));
  Value near = chebyshevSeries(e, erfcxNear, minus(e, times(e, 2, place), 1));
  Value right = e.select(e.lt(e.constant(farRight), size), scaledErfcFar(e, size), near);
  Value left = e.sub(times(e, 2, e.exp(e.mul(x, x))), right);
  return e.select(e.lt(x, e.constant(0)), left, right);
}

/// log of the normal distribution function, also far left.
Value logNormalCdf(Element &e, Value x) {
  Value scaled = times(e, M_SQRT1_2, x), isLeft = e.lt(x, e.constant(-1));
  Value tail = times(e, 0.5, scaledErfc(e, e.neg(e.select(isLeft, scaled, e.constant(-1)))));
  Value left = e.sub(e.log(tail), e.mul(scaled, scaled));
  Value upper = math::ErfcOp::create(e.b, e.loc, scaled);
  return e.select(isLeft, left, e.log1p(times(e, -0.5, upper)));
}

/// The inverse of the normal distribution function: a rough start, and Newton's steps on the
/// logarithm.
Value inverseNormalCdf(Element &e, Value p) {
  Value half = e.constant(0.5), one = e.constant(1), zero = e.constant(0);
  Value isLeft = e.lt(p, half), tail = e.select(isLeft, p, e.sub(one, p));
  Value logTail = e.log(tail), t = e.sqrt(times(e, -2, logTail));
  Value above = e.add(e.constant(2.30753), times(e, 0.27061, t));
  Value below = e.add(one, e.mul(t, e.add(e.constant(0.99229), times(e, 0.04481, t))));
  Value z = e.sub(t, e.div(above, below));
  for (int step = 0; step < 4; ++step) {
    Value erfcx = scaledErfc(e, times(e, M_SQRT1_2, z));
    Value logValue = e.sub(e.log(times(e, 0.5, erfcx)), times(e, 0.5, e.mul(z, z)));
    Value slope = over(e, std::sqrt(2 / M_PI), erfcx);
    z = e.add(z, e.div(e.sub(logValue, logTail), slope));
  }
  Value value = e.select(isLeft, e.neg(z), z);
  value = e.select(e.eq(p, half), zero, value);
  value = e.select(e.eq(p, zero), e.constant(-INFINITY), value);
  value = e.select(e.eq(p, one), e.constant(double(INFINITY)), value);
  Value isOutside = e.disjunction(e.lt(p, zero), e.gt(p, one));
  return e.select(isOutside, e.constant(NAN), value);
}

//===----------------------------------------------------------------------===//
// Zeta and polygamma
//===----------------------------------------------------------------------===//

/// How many terms are summed before q + k is ten at least: more where q is negative.
Value termCount(const Element &e, Value q) {
  constexpr double most = 1 << 20;
  Value below = e.select(e.lt(q, e.constant(0)), e.neg(q), e.constant(0.0));
  below = e.min(math::CeilOp::create(e.b, e.loc, below), e.constant(most));
  return e.add(below, e.constant(10.0));
}

/// The sum of (q + k)^-x for k < count.
Value sumOfPowers(const Element &e, Value x, Value q, Value count) {
  Value zero = arith::ConstantIndexOp::create(e.b, e.loc, 0);
  Value one = arith::ConstantIndexOp::create(e.b, e.loc, 1);
  Value end = arith::IndexCastOp::create(e.b, e.loc, e.b.getIndexType(),
                                         e.as(DType::I64).cast(count, e.dtype));
  auto loop = scf::ForOp::create(e.b, e.loc, zero, end, one, ValueRange{e.constant(0.0), q},
                                 [&](OpBuilder &b, Location loc, Value, ValueRange carried) {
                                   Element inside(b, loc, e.dtype);
                                   Value term = inside.pow(carried[1], inside.neg(x));
                                   Value next = inside.add(carried[1], inside.constant(1));
                                   scf::YieldOp::create(
                                       b, loc, ValueRange{inside.add(carried[0], term), next});
                                 });
  return loop.getResult(0);
}

/// The sum of (q + k)^-x over k: first term by term, then by Euler-Maclaurin's formula.
Value zeta(const Element &e, Value x, Value q) {
  // B_2j / (2j)!
  static constexpr double bernoulli[] = {1.0 / 12,          -1.0 / 720,
                                         1.0 / 30240,       -1.0 / 1209600,
                                         1.0 / 47900160,    -691.0 / 1307674368000,
                                         1.0 / 74724249600, -3617.0 / 10670622842880000.0};
  Value one = e.constant(1), count = termCount(e, q), sum = sumOfPowers(e, x, q, count);
  Value end = e.add(q, count), power = e.pow(end, e.neg(x));
  Value rest = e.add(e.div(e.mul(power, end), e.sub(x, one)), times(e, 0.5, power));
  Value factor = e.div(e.mul(power, x), end);
  for (auto [j, number] : llvm::enumerate(bernoulli)) {
    rest = e.add(rest, times(e, number, factor));
    Value next =
        e.mul(e.add(x, e.constant(2.0 * double(j) + 1)), e.add(x, e.constant(2.0 * double(j) + 2)));
    factor = e.div(e.mul(factor, next), e.mul(end, end));
  }
  // Far right all terms left are 0, while products of x are infinite.
  Value isGone = e.conjunction(e.eq(power, e.constant(0)), e.lt(end, e.constant(double(INFINITY))));
  sum = e.add(sum, e.select(isGone, e.constant(0), rest));
  Value isPole =
      e.disjunction(e.eq(x, one), e.conjunction(e.le(q, e.constant(0)), e.eq(q, e.floor(q))));
  sum = e.select(isPole, e.constant(double(INFINITY)), sum);
  Value isBelow = e.conjunction(e.lt(q, e.constant(0)), e.ne(x, e.floor(x)));
  isBelow = e.conjunction(isBelow, e.ne(q, e.floor(q)));
  return e.select(e.disjunction(e.lt(x, one), isBelow), e.constant(NAN), sum);
}

/// The derivative of digamma; left of 1/2 by reflection.
Value trigamma(const Element &e, Value x) {
  Value isLeft = e.lt(x, e.constant(0.5));
  Value right = zeta(e, e.constant(2.0), e.select(isLeft, e.sub(e.constant(1), x), x));
  Value nearest = math::RoundEvenOp::create(e.b, e.loc, x);
  Value ratio = over(e, M_PI, sine(e, times(e, M_PI, e.sub(x, nearest))));
  return e.select(isLeft, e.sub(e.mul(ratio, ratio), right), right);
}

LogicalResult lowerZeta(Lowering &ctx) {
  return ctx.done(pointwise(
      ctx, {ctx.arg("self"), ctx.arg("other")}, ctx.resultDType(),
      [](Element &e, ValueRange x) { return zeta(e, x[0], x[1]); }, DType::F64));
}

LogicalResult lowerPolygamma(Lowering &ctx) {
  int64_t n = ctx.integer("n");
  if (n < 0)
    return ctx.refuse("its order is " + std::to_string(n) + ", but must not be negative");
  if (n == 0)
    if (LoweringFn lower = findLowering("torch.aten.digamma"))
      return lower(ctx);
  return ctx.done(pointwise(
      ctx, ctx.arg("self"), ctx.resultDType(),
      [&](Element &e, ValueRange x) {
        if (n == 1)
          return trigamma(e, x[0]);
        double factor = std::tgamma(double(n) + 1) * (n % 2 ? 1 : -1);
        return times(e, factor, zeta(e, e.constant(double(n) + 1), x[0]));
      },
      DType::F64));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

} // namespace

Family besselFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.i0", lowerInDouble<besselI<0>>},
      {"torch.aten.special_i0", lowerInDouble<besselI<0>>},
      {"torch.aten.special_i0e", lowerInDouble<scaledI<0>>},
      {"torch.aten.special_i1", lowerInDouble<besselI<1>>},
      {"torch.aten.special_i1e", lowerInDouble<scaledI<1>>},
      {"torch.aten.special_modified_bessel_i0", lowerInDouble<besselI<0>>},
      {"torch.aten.special_modified_bessel_i1", lowerInDouble<besselI<1>>},
      {"torch.aten.special_modified_bessel_k0", lowerInDouble<besselK<0, false>>},
      {"torch.aten.special_modified_bessel_k1", lowerInDouble<besselK<1, false>>},
      {"torch.aten.special_scaled_modified_bessel_k0", lowerInDouble<besselK<0, true>>},
      {"torch.aten.special_scaled_modified_bessel_k1", lowerInDouble<besselK<1, true>>},
      {"torch.aten.special_bessel_j0", lowerInDouble<besselJ<0>>},
      {"torch.aten.special_bessel_j1", lowerInDouble<besselJ<1>>},
      {"torch.aten.special_bessel_y0", lowerInDouble<besselY<0>>},
      {"torch.aten.special_bessel_y1", lowerInDouble<besselY<1>>},
      {"torch.aten.special_spherical_bessel_j0", lowerInDouble<sphericalJ0>},
      {"torch.aten.special_erfcx", lowerInDouble<scaledErfc>},
      {"torch.aten.special_log_ndtr", lowerInDouble<logNormalCdf>},
      {"torch.aten.special_ndtri", lowerInDouble<inverseNormalCdf>},
      {"torch.aten.special_zeta", lowerZeta},
      {"torch.aten.special_zeta.self_scalar", lowerZeta},
      {"torch.aten.special_zeta.other_scalar", lowerZeta},
      {"torch.aten.polygamma", lowerPolygamma},
      {"torch.aten.special_polygamma", lowerPolygamma},
  };
  return {"Bessel functions, error functions, zeta", rows};
}

} // namespace tw::lower
