// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions of f32 whose formulas lose digits where terms cancel, or multiply an error
// by a large argument: in f64 both lose nothing that an f32 shows. Three polynomials are behind all
// of them: exp, log and atan of a reduced argument (Cody and Waite, "Software Manual for the
// Elementary Functions", 1980), with relative errors of 2^-40, 2^-51 and 2^-36. No branches; NaN
// stays NaN.
#include "Target/Common/Math/F32InF64.h"
#include "Target/Common/Math/FloatBuilder.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tw::target {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double halfPi = 0x1.921fb54442d18p+0, pi = 0x1.921fb54442d18p+1;
/// Below it, three terms of a series say all that an f32 holds; above, 1 + x in f64 does.
constexpr double mostOfSeries = 0x1p-13;
/// Added to a number below 2^51, it leaves the nearest integer in the low bits.
constexpr double magic = 0x1.8p52;
constexpr int64_t fractionBits = 52, bias = 1023;

class F64 : public FloatBuilder {
public:
  F64(OpBuilder &b, Location loc, Type like) : FloatBuilder(b, loc, like, b.getF64Type()) {}

  /// e^x; 0 and infinity of f32 are those of what is beyond its bounds, +-200.
  Value exp(Value x) {
    x = clamp(x, -200, 200);
    Value sum = fma(x, number(0x1.71547652b82fep+0), number(magic)), n = sub(sum, number(magic));
    Value r = fma(n, number(-0x1.abc9e3b39803fp-56), fma(n, number(-0x1.62e42fefa39efp-1), x));
    Value y = polynomial(r, {1.0, 0.999999999979769, 0.49999999999797773, 0.16666666891180545,
                             0.0416666668910917, 0.008333266071022454, 0.001388882165071769,
                             0.00019915881871396035, 2.4876178959085513e-05});
    // Adding n to the exponent multiplies by 2^n.
    Value shifted = make<arith::ShLIOp>(bits(sum), integer(fractionBits));
    return select(compare(arith::CmpFPredicate::UNO, x, x), x,
                  fromBits(make<arith::AddIOp>(bits(y), shifted)));
  }

  /// x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m - 1) / (m + 1)). x is 0 or not
  /// below the least number of f32 above it.
  Value log(Value x) {
    constexpr int64_t rootOfHalf = 0x3fe6a09e667f3bcd;
    Value biased = make<arith::AddIOp>(bits(x), integer((bias << fractionBits) - rootOfHalf));
    Value exponent = make<arith::ShRUIOp>(biased, integer(fractionBits));
    Value moved = make<arith::ShLIOp>(exponent, integer(fractionBits));
    Value m = fromBits(
        make<arith::AddIOp>(make<arith::SubIOp>(bits(x), moved), integer(bias << fractionBits)));
    // As the low bits of 2^52: AVX2 does not convert integers of 64 bits.
    Value e = sub(fromBits(make<arith::OrIOp>(exponent, bits(number(0x1p52)))),
                  number(0x1p52 + double(bias)));
    Value s = div(sub(m, number(1)), add(m, number(1)));
    Value rest = mul(
        s, polynomial(mul(s, s), {2.0, 0.6666666666655222, 0.400000000620566, 0.28571415969715536,
                                  0.22223438289974737, 0.18121810095796076, 0.16839196030892914}));
    Value result = fma(e, number(0x1.62e42fefa39efp-1), rest);
    result = select(equal(x, number(infinity)), x, result);
    result = select(equal(x, number(0)), number(-infinity), result);
    Value isIn = compare(arith::CmpFPredicate::OGE, x, number(0));
    return select(isIn, result, number(notANumber));
  }

  /// x + c x^2 + d x^3
  Value series3(Value x, double c, double d) {
    return fma(mul(x, x), fma(x, number(d), number(c)), x);
  }

  Value expm1(Value x) {
    Value series = copySign(series3(x, 0.5, 1.0 / 6), x); // -0 has its sign
    return select(less(abs(x), number(mostOfSeries)), series, sub(exp(x), number(1)));
  }

  Value log1p(Value x) {
    Value series = series3(x, -0.5, 1.0 / 3);
    return select(less(abs(x), number(mostOfSeries)), series, log(add(x, number(1))));
  }

  /// atan of y / x for 0 <= y <= x, x > 0.
  Value atanOfQuotient(Value y, Value x) {
    Value t = div(y, x);
    return mul(
        t, polynomial(mul(t, t), {0.9999999999887381, -0.3333333295165722, 0.19999978336217084,
                                  -0.1428522560816021, 0.11105306732424464, -0.09049179093720577,
                                  0.07495262378099696, -0.06022196387937433, 0.04364658944281667,
                                  -0.02600599597760862, 0.011427633277375594,
                                  -0.0031954252407363944, 0.00041922786011272897}));
  }

  Value atan(Value x) { return atan2(x, number(1)); }

  Value atan2(Value y, Value x) {
    Value height = abs(y), width = abs(x), isSteep = less(width, height);
    Value least = select(isSteep, width, height), most = select(isSteep, height, width);
    // Of two zeros, and of two infinities.
    Value isSame = equal(least, most);
    Value isZero = equal(most, number(0));
    Value angle = atanOfQuotient(select(isSame, number(1), least), select(isSame, number(1), most));
    angle = select(isZero, number(0), angle);
    angle = select(isSteep, sub(number(halfPi), angle), angle);
    Value isLeft = less(copySign(number(1), x), number(0));
    angle = copySign(select(isLeft, sub(number(pi), angle), angle), y);
    return select(compare(arith::CmpFPredicate::UNO, x, y), number(notANumber), angle);
  }

  /// sqrt(1 - x^2), which is exact to the last digits of f64 for x near to 1.
  Value leg(Value x) { return sqrt(mul(sub(number(1), x), add(number(1), x))); }
  Value asin(Value x) { return atan2(x, leg(x)); }
  Value acos(Value x) { return atan2(leg(x), x); }

  Value sinh(Value x) {
    Value t = expm1(abs(x)), sum = add(t, div(t, add(t, number(1))));
    return copySign(mul(sum, number(0.5)), x);
  }
  Value cosh(Value x) {
    Value e = exp(abs(x));
    return mul(add(e, div(number(1), e)), number(0.5));
  }
  Value asinh(Value x) {
    Value size = abs(x), square = mul(size, size);
    Value root = sqrt(add(square, number(1)));
    Value result = log1p(add(size, div(square, add(number(1), root))));
    return copySign(select(equal(size, number(infinity)), size, result), x);
  }
  Value acosh(Value x) {
    Value above = sub(x, number(1));
    Value root = sqrt(mul(above, add(x, number(1))));
    return select(less(x, number(1)), number(notANumber), log1p(add(above, root)));
  }
  Value atanh(Value x) {
    Value size = abs(x);
    Value twice = add(size, size);
    return copySign(mul(log1p(div(twice, sub(number(1), size))), number(0.5)), x);
  }

  /// C's pow: ISO 9899, F.10.4.4.
  Value pow(Value x, Value y) {
    Value one = number(1), size = abs(x), rounded = add(y, number(magic));
    Value isHuge = compare(arith::CmpFPredicate::OGE, abs(y), number(0x1p24)); // and even
    Value isInteger = make<arith::OrIOp>(isHuge, equal(sub(rounded, number(magic)), y));
    Value power = exp(mul(log(size), y));
    // Where log is 0 and y infinite, or the other way round.
    power = select(make<arith::OrIOp>(equal(size, one), equal(y, number(0))), one, power);
    Value isNegative = less(copySign(one, x), number(0));
    Value isOdd = make<arith::AndIOp>(isNot(isHuge), hasBit(bits(rounded), 1));
    Value flips = make<arith::AndIOp>(isNegative, make<arith::AndIOp>(isInteger, isOdd));
    power = select(flips, neg(power), power);
    // A negative number, but no zero or infinity, has no other powers.
    Value isFinite = less(size, number(infinity));
    Value hasNone =
        make<arith::AndIOp>(make<arith::AndIOp>(less(x, number(0)), isFinite), isNot(isInteger));
    power = select(hasNone, number(notANumber), power);
    power = select(compare(arith::CmpFPredicate::UNO, x, y), number(notANumber), power);
    Value isOne = make<arith::OrIOp>(equal(x, one), equal(y, number(0)));
    return select(isOne, one, power);
  }
};

using Function = Value (*)(F64 &, ArrayRef<Value>);

const llvm::StringMap<Function> &functions() {
  static const llvm::StringMap<Function> table = {
      {"acos", [](F64 &f, ArrayRef<Value> x) { return f.acos(x[0]); }},
      {"acosh", [](F64 &f, ArrayRef<Value> x) { return f.acosh(x[0]); }},
      {"asin", [](F64 &f, ArrayRef<Value> x) { return f.asin(x[0]); }},
      {"asinh", [](F64 &f, ArrayRef<Value> x) { return f.asinh(x[0]); }},
      {"atan", [](F64 &f, ArrayRef<Value> x) { return f.atan(x[0]); }},
      {"atan2", [](F64 &f, ArrayRef<Value> x) { return f.atan2(x[0], x[1]); }},
      {"atanh", [](F64 &f, ArrayRef<Value> x) { return f.atanh(x[0]); }},
      {"cosh", [](F64 &f, ArrayRef<Value> x) { return f.cosh(x[0]); }},
      {"expm1", [](F64 &f, ArrayRef<Value> x) { return f.expm1(x[0]); }},
      {"log10",
       [](F64 &f, ArrayRef<Value> x) {
         return f.mul(f.log(x[0]), f.number(0x1.bcb7b1526e50ep-2));
       }},
      {"log1p", [](F64 &f, ArrayRef<Value> x) { return f.log1p(x[0]); }},
      {"log2",
       [](F64 &f, ArrayRef<Value> x) {
         return f.mul(f.log(x[0]), f.number(0x1.71547652b82fep+0));
       }},
      {"pow", [](F64 &f, ArrayRef<Value> x) { return f.pow(x[0], x[1]); }},
      {"sinh", [](F64 &f, ArrayRef<Value> x) { return f.sinh(x[0]); }},
  };
  return table;
}

} // namespace

bool isComputedInF64(StringRef name, Type type) {
  return getElementTypeOrSelf(type).isF32() && functions().contains(name);
}

Value emitInF64(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  F64 f(b, loc, operands[0].getType());
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(f.widen(operand));
  return f.narrow(functions().lookup(name)(f, wide));
}

} // namespace tw::target
