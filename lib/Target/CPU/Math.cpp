// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions on f32: the argument is reduced exactly (Cody and Waite, "Software Manual
// for the Elementary Functions", 1980), the rest is a polynomial fitted to the reduced range. No
// branches, no tables; NaN stays NaN.
#include "Target/CPU/Math.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include <limits>

using namespace mlir;

namespace tw::target::cpu {
namespace {

class F32 {
public:
  F32(OpBuilder &b, Location loc, Type type) : b(b), loc(loc), type(type) {
    Type i32 = b.getI32Type();
    auto vector = dyn_cast<VectorType>(type);
    bits = vector ? Type(VectorType::get(vector.getShape(), i32)) : i32;
  }

  Value number(double value) {
    auto attribute = b.getF32FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vector, Attribute(attribute)));
    return arith::ConstantOp::create(b, loc, attribute);
  }
  Value integer(int32_t value) {
    auto attribute = b.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(bits))
      return arith::ConstantOp::create(b, loc,
                                       DenseElementsAttr::get(vector, Attribute(attribute)));
    return arith::ConstantOp::create(b, loc, attribute);
  }

  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value copySign(Value x, Value sign) { return math::CopySignOp::create(b, loc, x, sign); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  }
  Value equal(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  }
  Value asBits(Value x) { return arith::BitcastOp::create(b, loc, bits, x); }
  Value asFloat(Value x) { return arith::BitcastOp::create(b, loc, type, x); }

  /// c[0] + c[1] x + ...
  Value polynomial(Value x, ArrayRef<double> c) {
    Value sum = number(c.back());
    for (double next : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, number(next));
    return sum;
  }

  /// x, kept within [low, high]; NaN stays.
  Value clamp(Value x, double low, double high) {
    Value least = number(low), most = number(high);
    x = select(less(x, least), least, x);
    return select(less(most, x), most, x);
  }

  /// The nearest integer to x, |x| < 2^22, as a float and in the low bits of an i32.
  std::pair<Value, Value> nearest(Value x) {
    Value magic = number(0x1.8p23);
    Value shifted = add(x, magic);
    Value count = arith::SubIOp::create(b, loc, asBits(shifted), asBits(magic));
    return {sub(shifted, magic), count};
  }

  /// x 2^n for -252 <= n <= 254, rounded once: 2^n is made of two factors.
  Value scale(Value x, Value n) {
    Value half = arith::ShRSIOp::create(b, loc, n, integer(1));
    Value rest = arith::SubIOp::create(b, loc, n, half);
    auto power = [&](Value e) {
      Value biased = arith::AddIOp::create(b, loc, e, integer(127));
      return asFloat(arith::ShLIOp::create(b, loc, biased, integer(23)));
    };
    return mul(mul(x, power(half)), power(rest));
  }

  Value exp(Value x) {
    x = clamp(x, -104.5, 89);
    auto [n, count] = nearest(mul(x, number(1.44269504088896341)));
    Value r = fma(n, number(-0x1.62e4p-1), x);
    r = fma(n, number(-0x1.7f7d1cf79abcap-20), r);
    Value q = polynomial(r, {0.5, 0.16666512191295624, 0.0416661873459816, 0.008369599469006062,
                             0.0013951711589470506});
    return scale(add(fma(q, mul(r, r), r), number(1)), count);
  }

  Value exp2(Value x) {
    x = clamp(x, -151, 129);
    auto [n, count] = nearest(x);
    Value r = sub(x, n);
    Value q = polynomial(r, {0.6931471824645996, 0.24022650718688965, 0.0555032417178154,
                             0.009618005715310574, 0.0013401679461821914, 0.00015475941472686827});
    return scale(fma(q, r, number(1)), count);
  }

  /// x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = f - f^2 / 2 + f^3 P(f), f = m - 1.
  Value log(Value x) {
    Value isTiny = less(x, number(0x1p-126));
    Value scaled = select(isTiny, mul(x, number(0x1p23)), x);
    Value offset = select(isTiny, number(-23), number(0));
    // Moves the fraction's range from [1, 2) to [sqrt(1/2), sqrt(2)).
    Value shifted = arith::SubIOp::create(b, loc, asBits(scaled), integer(0x3f3504f3));
    Value exponent = arith::ShRSIOp::create(b, loc, shifted, integer(23));
    Value fraction = arith::SubIOp::create(b, loc, asBits(scaled),
                                           arith::ShLIOp::create(b, loc, exponent, integer(23)));
    Value f = sub(asFloat(fraction), number(1));
    Value e = add(arith::SIToFPOp::create(b, loc, type, exponent), offset);
    Value p = polynomial(f, {0.3333331346511841, -0.25000008940696716, 0.2000211924314499,
                             -0.16667994856834412, 0.142195463180542, -0.12405597418546677,
                             0.11888211220502853, -0.11675615608692169, 0.0674649178981781});
    Value square = mul(f, f);
    Value low = fma(e, number(1.428606765330187e-06), mul(mul(p, f), square));
    Value small = fma(square, number(-0.5), low);
    Value result = fma(e, number(0x1.62e4p-1), add(f, small));
    return atEdges(x, result);
  }

  /// log of 0, of infinity, and of what has none.
  Value atEdges(Value x, Value result) {
    double infinity = std::numeric_limits<double>::infinity();
    Value zero = number(0);
    result = select(equal(x, number(infinity)), number(infinity), result);
    result = select(equal(x, zero), number(-infinity), result);
    Value isPositive = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, zero);
    return select(isPositive, result, number(std::numeric_limits<double>::quiet_NaN()));
  }

  Value tanh(Value x) {
    Value square = mul(x, x);
    Value p = polynomial(square, {-0.33333277702331543, 0.13331328332424164, -0.05372921749949455,
                                  0.020601972937583923, -0.005660754628479481});
    Value small = fma(mul(p, square), x, x);
    Value size = abs(x);
    Value e = exp(add(size, size));
    Value large = sub(number(1), div(number(2), add(e, number(1))));
    return select(less(size, number(0.625)), small, copySign(large, x));
  }

  Value erf(Value x) {
    Value square = mul(x, x), size = abs(x);
    Value p = polynomial(square, {0.12837916709551256, -0.3761262595653534, 0.11283600330352783,
                                  -0.026854444295167923, 0.005189535208046436,
                                  -0.0008020838140510023, 7.889109110692516e-05});
    Value t = clamp(size, 0, 4);
    Value g =
        polynomial(t, {0.00020436551130842417, -1.129661202430725, -0.6330395340919495,
                       -0.10863908380270004, 0.02537362091243267, -0.004282413981854916,
                       0.0004637973615899682, -2.5316363462479785e-05, 2.514373704798345e-07});
    Value large = copySign(sub(number(1), exp(g)), x);
    return select(less(size, number(1)), fma(p, x, x), large);
  }

private:
  OpBuilder &b;
  Location loc;
  Type type, bits;
};

using Function = Value (*)(F32 &, ValueRange);

const llvm::StringMap<Function> &functions() {
  static const llvm::StringMap<Function> table = {
      {"math.exp", [](F32 &f, ValueRange x) { return f.exp(x[0]); }},
      {"math.exp2", [](F32 &f, ValueRange x) { return f.exp2(x[0]); }},
      {"math.log", [](F32 &f, ValueRange x) { return f.log(x[0]); }},
      {"math.tanh", [](F32 &f, ValueRange x) { return f.tanh(x[0]); }},
      {"math.erf", [](F32 &f, ValueRange x) { return f.erf(x[0]); }},
  };
  return table;
}

} // namespace

Value emitMath(OpBuilder &b, Location loc, StringRef operation, ValueRange operands) {
  auto found = functions().find(operation);
  if (found == functions().end() || !getElementTypeOrSelf(operands[0].getType()).isF32())
    return {};
  F32 f(b, loc, operands[0].getType());
  return found->second(f, operands);
}

} // namespace tw::target::cpu
