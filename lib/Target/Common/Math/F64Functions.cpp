// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reduced arguments (Cody and Waite, "Software Manual for the Elementary Functions", 1980), whose
// Taylor series are taken so far that the rest is below f64's last bit; constants are in two or
// three parts where digits cancel. erfc is a continued fraction and fmod a long division
// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.6 and 7.1.14): loops.
#include "Target/Common/Math/F64Functions.h"
#include "Target/Common/Math/FloatBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tw::target {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
/// Added to a number below 2^51, it leaves the nearest integer in the low bits.
constexpr double magic = 0x1.8p52;
constexpr int64_t fractionBits = 52, bias = 1023;
constexpr double log2e = 0x1.71547652b82fep+0;
constexpr double ln2High = 0x1.62e42fee00000p-1, ln2Low = 0x1.a39ef35793c76p-33;
constexpr double halfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

/// The coefficients first, first + 1, ... of a series.
SmallVector<double> series(int first, int count, double (*coefficient)(int)) {
  SmallVector<double> all;
  for (int k = first; k < first + count; ++k)
    all.push_back(coefficient(k));
  return all;
}

double factorial(int n) { return std::tgamma(n + 1.0); }

class F64 : public FloatBuilder {
public:
  F64(OpBuilder &b, Location loc) : FloatBuilder(b, loc, b.getF64Type(), b.getF64Type()) {}

  //===--- exponentials ----------------------------------------------------===//

  /// 2^n for an integer n, a float, from -1022 to 1023.
  Value powerOfTwo(Value n) {
    Value biased = bits(add(n, number(magic + double(bias))));
    return fromBits(make<arith::ShLIOp>(biased, integer(fractionBits)));
  }

  /// x 2^n for |n| up to 2000.
  Value scale(Value x, Value n) {
    Value half = roundToInteger(mul(n, number(0.5)));
    return mul(mul(x, powerOfTwo(half)), powerOfTwo(sub(n, half)));
  }

  Value roundToInteger(Value x) { return sub(add(x, number(magic)), number(magic)); }

  /// e^r - 1 for |r| up to 0.35.
  Value expm1OfSmall(Value r) {
    Value q = polynomial(r, series(2, 13, [](int k) { return 1 / factorial(k); }));
    return fma(mul(r, r), q, r);
  }

  /// x = n log 2 + r.
  std::pair<Value, Value> reduceExp(Value x) {
    Value n = roundToInteger(mul(x, number(log2e)));
    return {n, fma(n, number(-ln2Low), fma(n, number(-ln2High), x))};
  }

  Value exp(Value x) {
    Value safe = clamp(x, -760, 720);
    auto [n, r] = reduceExp(safe);
    return keepNan(x, scale(add(expm1OfSmall(r), number(1)), n));
  }

  Value exp2(Value x) {
    Value safe = clamp(x, -1100, 1100);
    Value n = roundToInteger(safe);
    Value r = mul(sub(safe, n), number(0x1.62e42fefa39efp-1));
    return keepNan(x, scale(add(expm1OfSmall(r), number(1)), n));
  }

  Value expm1(Value x) {
    Value safe = clamp(x, -60, 60);
    auto [n, r] = reduceExp(safe);
    Value power = powerOfTwo(n), below = expm1OfSmall(r);
    Value result = fma(power, below, sub(power, number(1)));
    result = select(equal(n, number(0)), select(equal(x, number(0)), x, below), result);
    return keepNan(x, select(less(number(50), x), exp(x), result));
  }

  //===--- logarithms ------------------------------------------------------===//

  /// x = 2^e m with m in [sqrt(1/2), sqrt(2)): e, and log m. x is positive and finite.
  std::pair<Value, Value> reduceLog(Value x) {
    constexpr int64_t rootOfHalf = 0x3fe6a09e667f3bcd;
    Value isTiny = less(x, number(0x1p-1022));
    Value usual = select(isTiny, mul(x, number(0x1p54)), x);
    Value biased = make<arith::SubIOp>(bits(usual), integer(rootOfHalf));
    Value exponent = make<arith::ShRSIOp>(biased, integer(fractionBits));
    Value moved = make<arith::ShLIOp>(exponent, integer(fractionBits));
    Value m = fromBits(make<arith::SubIOp>(bits(usual), moved));
    Value e = arith::SIToFPOp::create(b, loc, type, exponent);
    e = select(isTiny, sub(e, number(54)), e);
    // log(1 + f) = 2 atanh(s) with s = f / (2 + f), and 2 s = f - s f.
    Value f = sub(m, number(1)), s = div(f, add(f, number(2))), z = mul(s, s);
    Value rest = mul(z, polynomial(z, series(1, 11, [](int k) { return 2.0 / (2 * k + 1); })));
    return {e, sub(f, mul(s, sub(f, rest)))};
  }

  /// The logarithms of 0, of infinity, and of what has none.
  Value atEdges(Value x, Value result) {
    result = select(equal(x, number(infinity)), x, result);
    result = select(equal(x, number(0)), number(-infinity), result);
    return select(compare(arith::CmpFPredicate::OGE, x, number(0)), result, number(notANumber));
  }

  Value log(Value x) {
    auto [e, m] = reduceLog(x);
    return atEdges(x, fma(e, number(ln2High), fma(e, number(ln2Low), m)));
  }
  Value log2(Value x) {
    auto [e, m] = reduceLog(x);
    return atEdges(x, fma(m, number(log2e), e));
  }
  Value log10(Value x) {
    auto [e, m] = reduceLog(x);
    Value low = mul(m, number(0x1.bcb7b1526e50ep-2));
    return atEdges(
        x, fma(e, number(0x1.34413509f79fep-2), fma(e, number(0x1.9dc1da994fd21p-59), low)));
  }
  Value log1p(Value x) {
    Value sum = add(x, number(1));
    Value lost = div(sub(x, sub(sum, number(1))), sum);
    Value isUsual = less(abs(sum), number(infinity));
    Value result = add(log(sum), select(isUsual, lost, number(0)));
    result = select(equal(sum, number(0)), number(-infinity), result);
    return select(equal(sum, number(1)), x, result);
  }

  //===--- circles ---------------------------------------------------------===//

  /// Sine, or cosine, or tangent.
  Value circular(Value x, bool isCosine, bool isTangent) {
    Value n = roundToInteger(mul(x, number(0x1.45f306dc9c883p-1)));
    Value r = x;
    for (double part : halfPi)
      r = fma(n, number(-part), r);
    Value quarters = bits(add(n, number(magic)));
    if (isCosine)
      quarters = make<arith::AddIOp>(quarters, integer(1));
    Value z = mul(r, r);
    Value sineRest =
        polynomial(z, series(1, 9, [](int k) { return (k % 2 ? -1 : 1) / factorial(2 * k + 1); }));
    Value sine = fma(mul(r, z), sineRest, r);
    Value cosineRest =
        polynomial(z, series(2, 8, [](int k) { return (k % 2 ? -1 : 1) / factorial(2 * k); }));
    Value half = mul(z, number(0.5)), high = sub(number(1), half);
    Value lost = sub(sub(number(1), high), half);
    Value cosine = add(high, fma(mul(z, z), cosineRest, lost));
    Value isOdd = hasBit(quarters, 1), value = select(isOdd, cosine, sine);
    if (isTangent)
      value = div(value, select(isOdd, sine, cosine));
    Value isNegative = hasBit(quarters, isTangent ? 1 : 2);
    value = select(isNegative, neg(value), value);
    return select(less(abs(x), number(infinity)), value, number(notANumber));
  }
  Value sin(Value x) { return select(equal(x, number(0)), x, circular(x, false, false)); }
  Value cos(Value x) { return circular(x, true, false); }
  Value tan(Value x) { return select(equal(x, number(0)), x, circular(x, false, true)); }

  /// atan of y / x for 0 <= y <= x, x > 0.
  Value atanOfQuotient(Value y, Value x) {
    Value t = div(y, x);
    Value isLarge = less(number(0.41421356237309503), t);
    Value u = select(isLarge, div(sub(t, number(1)), add(t, number(1))), t), z = mul(u, u);
    Value rest =
        polynomial(z, series(1, 23, [](int k) { return (k % 2 ? -1.0 : 1.0) / (2 * k + 1); }));
    Value angle = fma(mul(u, z), rest, u);
    Value moved = add(number(halfPi[0] / 2), add(angle, number(halfPi[1] / 2)));
    return select(isLarge, moved, angle);
  }

  Value atan2(Value y, Value x) {
    Value height = abs(y), width = abs(x), isSteep = less(width, height);
    Value least = select(isSteep, width, height), most = select(isSteep, height, width);
    Value isSame = equal(least, most), isZero = equal(most, number(0)); // or both are infinite
    Value angle = atanOfQuotient(select(isSame, number(1), least), select(isSame, number(1), most));
    angle = select(isZero, number(0), angle);
    Value turned = add(sub(number(halfPi[0]), angle), number(halfPi[1]));
    angle = select(isSteep, turned, angle);
    Value isLeft = less(copySign(number(1), x), number(0));
    Value opposite = add(sub(number(2 * halfPi[0]), angle), number(2 * halfPi[1]));
    angle = copySign(select(isLeft, opposite, angle), y);
    return select(compare(arith::CmpFPredicate::UNO, x, y), number(notANumber), angle);
  }
  Value atan(Value x) { return atan2(x, number(1)); }
  Value leg(Value x) { return sqrt(mul(sub(number(1), x), add(number(1), x))); }
  Value asin(Value x) { return atan2(x, leg(x)); }
  Value acos(Value x) {
    Value half = atan2(sqrt(sub(number(1), x)), sqrt(add(number(1), x)));
    return add(half, half);
  }

  //===--- hyperbolas ------------------------------------------------------===//

  /// e^|x| / 2 where that is not infinite, but e^|x| may be.
  Value halfExp(Value size) {
    Value root = exp(mul(size, number(0.5)));
    return mul(mul(root, number(0.5)), root);
  }
  Value sinh(Value x) {
    Value size = abs(x), t = expm1(size);
    Value small = mul(add(t, div(t, add(t, number(1)))), number(0.5));
    return copySign(select(less(number(40), size), halfExp(size), small), x);
  }
  Value cosh(Value x) {
    Value size = abs(x), e = exp(clamp(size, 0, 50));
    Value small = mul(add(e, div(number(1), e)), number(0.5));
    return select(less(number(40), size), halfExp(size), small);
  }
  Value tanh(Value x) {
    Value size = abs(x), t = expm1(mul(size, number(-2)));
    return copySign(div(neg(t), add(t, number(2))), x);
  }
  Value asinh(Value x) {
    Value size = abs(x), square = mul(size, size);
    Value root = sqrt(add(square, number(1)));
    Value result = log1p(add(size, div(square, add(number(1), root))));
    Value far = add(log(size), number(0x1.62e42fefa39efp-1));
    return copySign(select(less(number(0x1p28), size), far, result), x);
  }
  Value acosh(Value x) {
    Value above = sub(x, number(1));
    Value result = log1p(add(above, sqrt(mul(above, add(x, number(1))))));
    Value far = add(log(x), number(0x1.62e42fefa39efp-1));
    result = select(less(number(0x1p28), x), far, result);
    return select(less(x, number(1)), number(notANumber), result);
  }
  Value atanh(Value x) {
    Value size = abs(x), twice = add(size, size);
    return copySign(mul(log1p(div(twice, sub(number(1), size))), number(0.5)), x);
  }

  //===--- error functions -------------------------------------------------===//

  /// e^(-x^2), with what the square loses.
  Value gauss(Value x) {
    Value square = mul(x, x), lost = fma(x, x, neg(square));
    Value power = exp(neg(square));
    return fma(power, neg(lost), power);
  }

  /// A loop over k = first, first + step, ..., count times, that carries values.
  SmallVector<Value> loop(double first, double step, int64_t count, ValueRange initial,
                          llvm::function_ref<SmallVector<Value>(Value k, ValueRange)> body) {
    SmallVector<Value> carried{number(first)};
    llvm::append_range(carried, initial);
    auto made = scf::ForOp::create(b, loc, integer(0), integer(count), integer(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    Value k = made.getRegionIterArg(0);
    SmallVector<Value> next{add(k, number(step))};
    llvm::append_range(next, body(k, ValueRange(made.getRegionIterArgs()).drop_front()));
    scf::YieldOp::create(b, loc, next);
    return llvm::to_vector(ValueRange(made.getResults()).drop_front());
  }

  /// 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...), for |x| up to 3.
  Value erfSeries(Value x) {
    constexpr int64_t terms = 60;
    Value twice = mul(number(2), mul(x, x));
    auto sums = loop(3, 2, terms, {x, x}, [&](Value k, ValueRange carried) {
      Value term = div(mul(carried[1], twice), k);
      return SmallVector<Value>{add(carried[0], term), term};
    });
    return mul(mul(number(0x1.20dd750429b6dp+0), gauss(x)), sums[0]);
  }

  /// e^(-x^2) / sqrt(pi) / (x + 1/2 / (x + 1 / (x + 3/2 / ...))), from 2 on.
  Value erfcFraction(Value x) {
    constexpr int64_t terms = 80;
    auto tail = loop(double(terms) / 2, -0.5, terms, {x}, [&](Value k, ValueRange carried) {
      return SmallVector<Value>{add(x, div(k, carried[0]))};
    });
    return div(mul(number(0x1.20dd750429b6dp-1), gauss(x)), tail[0]);
  }

  Value erf(Value x) {
    Value size = abs(x), near = clamp(size, 0, 3), far = clamp(size, 2, 30);
    Value value = select(less(size, number(2)), erfSeries(near), sub(number(1), erfcFraction(far)));
    return keepNan(x, copySign(value, x));
  }
  Value erfc(Value x) {
    Value size = abs(x), near = clamp(size, 0, 3), far = clamp(size, 2, 30);
    Value small = sub(number(1), copySign(erfSeries(near), x));
    Value tail = erfcFraction(far);
    Value isLeft = less(x, number(0));
    Value large = select(isLeft, sub(number(2), tail), tail);
    return keepNan(x, select(less(size, number(2)), small, large));
  }

  //===--- two arguments ---------------------------------------------------===//

  /// C's pow: ISO 9899, F.10.4.4.
  Value pow(Value x, Value y) {
    Value one = number(1), size = abs(x), rounded = add(y, number(magic));
    Value isHuge = compare(arith::CmpFPredicate::OGE, abs(y), number(0x1p51));
    Value isInteger = make<arith::OrIOp>(isHuge, equal(sub(rounded, number(magic)), y));
    Value isOdd =
        make<arith::AndIOp>(less(abs(y), number(0x1p53)), isOddInteger(y, isHuge, rounded));
    Value power = exp(mul(log(size), y));
    power = select(make<arith::OrIOp>(equal(size, one), equal(y, number(0))), one, power);
    Value isNegative = less(copySign(one, x), number(0));
    Value flips = make<arith::AndIOp>(isNegative, make<arith::AndIOp>(isInteger, isOdd));
    power = select(flips, neg(power), power);
    Value isFinite = less(size, number(infinity));
    Value hasNone =
        make<arith::AndIOp>(make<arith::AndIOp>(less(x, number(0)), isFinite), isNot(isInteger));
    power = select(hasNone, number(notANumber), power);
    power = select(compare(arith::CmpFPredicate::UNO, x, y), number(notANumber), power);
    return select(make<arith::OrIOp>(equal(x, one), equal(y, number(0))), one, power);
  }

  /// The remainder of x by y with the sign of x, exactly: a long division, bit by bit.
  Value fmod(Value x, Value y) {
    Value size = abs(x), by = abs(y);
    Value isUsual = make<arith::AndIOp>(less(size, number(infinity)), less(number(0), by));
    Value safeSize = select(isUsual, size, number(0)), safeBy = select(isUsual, by, number(1));
    safeBy = select(less(safeBy, number(infinity)), safeBy, number(1));
    Value distance = make<arith::SubIOp>(exponentOf(safeSize), exponentOf(safeBy));
    Value trips = make<arith::MaxSIOp>(make<arith::AddIOp>(distance, integer(1)), integer(0));
    auto steps = scf::ForOp::create(b, loc, integer(0), trips, integer(1), safeSize);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(steps.getBody());
      Value shift = make<arith::SubIOp>(distance, steps.getInductionVar());
      Value power = arith::SIToFPOp::create(b, loc, type, shift);
      Value rest = steps.getRegionIterArg(0), multiple = scale(safeBy, power);
      Value fits = compare(arith::CmpFPredicate::OGE, rest, multiple);
      scf::YieldOp::create(b, loc, select(fits, sub(rest, multiple), rest));
    }
    Value result = select(less(size, by), x, copySign(steps.getResult(0), x));
    Value isDefined = make<arith::AndIOp>(isUsual, equal(y, y));
    return select(isDefined, result, number(notANumber));
  }

private:
  Value keepNan(Value x, Value result) {
    return select(compare(arith::CmpFPredicate::UNO, x, x), x, result);
  }

  Value isOddInteger(Value y, Value isHuge, Value rounded) {
    // Of numbers from 2^51 to 2^53 the half is exact.
    Value half = mul(y, number(0.5));
    Value halved = math::TruncOp::create(b, loc, half);
    Value isOddHuge = isNot(equal(halved, half));
    return select(isHuge, isOddHuge, hasBit(bits(rounded), 1));
  }

  /// The exponent of a number that is not negative; of 0 the least.
  Value exponentOf(Value x) {
    Value isTiny = less(x, number(0x1p-1022));
    Value usual = select(isTiny, mul(x, number(0x1p54)), x);
    Value exponent = make<arith::ShRUIOp>(bits(usual), integer(fractionBits));
    return make<arith::SubIOp>(exponent, select(isTiny, integer(bias + 54), integer(bias)));
  }
};

template <Value (F64::*function)(Value)>
Value unary(F64 &f, ValueRange x) {
  return (f.*function)(x[0]);
}
template <Value (F64::*function)(Value, Value)>
Value binary(F64 &f, ValueRange x) {
  return (f.*function)(x[0], x[1]);
}

} // namespace

Value emitF64(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  using Function = Value (*)(F64 &, ValueRange);
  static const llvm::StringMap<Function> table = {
      {"acos", unary<&F64::acos>},   {"acosh", unary<&F64::acosh>}, {"asin", unary<&F64::asin>},
      {"asinh", unary<&F64::asinh>}, {"atan", unary<&F64::atan>},   {"atan2", binary<&F64::atan2>},
      {"atanh", unary<&F64::atanh>}, {"cos", unary<&F64::cos>},     {"cosh", unary<&F64::cosh>},
      {"erf", unary<&F64::erf>},     {"erfc", unary<&F64::erfc>},   {"exp", unary<&F64::exp>},
      {"exp2", unary<&F64::exp2>},   {"expm1", unary<&F64::expm1>}, {"fmod", binary<&F64::fmod>},
      {"log", unary<&F64::log>},     {"log10", unary<&F64::log10>}, {"log1p", unary<&F64::log1p>},
      {"log2", unary<&F64::log2>},   {"pow", binary<&F64::pow>},    {"sin", unary<&F64::sin>},
      {"sinh", unary<&F64::sinh>},   {"tan", unary<&F64::tan>},     {"tanh", unary<&F64::tanh>}};
  auto found = table.find(name);
  if (found == table.end())
    return {};
  F64 f(b, loc);
  return found->second(f, operands);
}

} // namespace tw::target
