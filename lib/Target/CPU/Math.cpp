// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions on f32: the argument is reduced exactly (Cody and Waite, "Software Manual
// for the Elementary Functions", 1980), the rest is a polynomial fitted to the reduced range. No
// branches; NaN stays NaN. AVX-512 multiplies by powers of two, and picks from 16 numbers, in one
// instruction: there erf is a polynomial for each of 16 pieces, and exp has a table.
#include "Target/CPU/Math.h"
#include "Target/CPU/CpuFeatures.h"
#include "Target/CPU/ErfPieces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;

namespace tw::target::cpu {
namespace {

/// Added to a float below 2^22, it leaves the nearest integer in the low bits.
constexpr double magic = 0x1.8p23;
/// How AVX-512 is told to round as always.
constexpr int32_t roundsToNearest = 4;
/// Of two operands the one of lesser magnitude; NaN is no operand.
constexpr int32_t lesserMagnitude = 2;

class F32 {
public:
  F32(OpBuilder &b, Location loc, Type type, const CpuFeatures &cpu) : b(b), loc(loc), type(type) {
    Type i32 = b.getI32Type();
    auto vector = dyn_cast<VectorType>(type);
    fillsAvx512 = cpu.vectorBytes >= 64 && vector && vector.getNumElements() == 16;
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

  Value scalar(TypedAttr value) { return arith::ConstantOp::create(b, loc, value); }

  Value intrinsic(StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands,
                                         LLVM::FastmathFlagsAttr())
        .getResult(0);
  }

  Value everyLane() { return scalar(b.getI16IntegerAttr(-1)); }

  /// x 2^n, rounded once, for an integer n from -180 to 129 and 1/2 < x < 2. AVX-512: for any n.
  Value scale(Value x, Value n) {
    if (fillsAvx512)
      return intrinsic("llvm.x86.avx512.mask.scalef.ps.512",
                       {x, n, x, everyLane(), scalar(b.getI32IntegerAttr(roundsToNearest))});
    // x 2^(n - 1) times 2, or x 2^(n + 63) times 2^-63 where that is no normal number.
    Value isSmall = less(n, number(-120));
    Value count = add(n, select(isSmall, number(magic + 127 + 63), number(magic + 127 - 1)));
    Value power = asFloat(arith::ShLIOp::create(b, loc, asBits(count), integer(23)));
    Value scaled = mul(x, power);
    return mul(scaled, select(isSmall, number(0x1p-63), number(2)));
  }

  /// 2^(i/16) comes from a table, so that a cubic is enough for the rest.
  Value expInPieces(Value x) {
    static const std::array<float, 16> powers = [] {
      std::array<float, 16> all;
      for (int i = 0; i < 16; ++i)
        all[i] = float(std::exp2(i / 16.0));
      return all;
    }();
    // The last bits of the sum are sixteenths.
    Value sixteenths = number(magic / 16);
    Value sum = fma(x, number(1.44269504088896341), sixteenths), n = sub(sum, sixteenths);
    Value r = fma(n, number(-0x1.62e4p-1), x);
    r = fma(n, number(-0x1.7f7d1cf79abcap-20), r);
    Value power = choose(powers, asBits(sum));
    // Infinite where x is out of all bounds, as is n then, which decides alone.
    r = intrinsic("llvm.x86.avx512.mask.range.ps.512",
                  {r, number(1), scalar(b.getI32IntegerAttr(lesserMagnitude)), r, everyLane(),
                   scalar(b.getI32IntegerAttr(roundsToNearest))});
    Value q = fma(polynomial(r, {0.50001622, 0.16666667}), mul(r, r), r);
    return scale(fma(power, q, power), n); // which rounds n down
  }

  Value exp(Value x) {
    if (fillsAvx512)
      return expInPieces(x);
    x = clamp(x, -104.5, 89);
    Value log2e = number(1.44269504088896341);
    Value n = sub(fma(x, log2e, number(magic)), number(magic));
    Value r = fma(n, number(-0x1.62e4p-1), x);
    r = fma(n, number(-0x1.7f7d1cf79abcap-20), r);
    Value q = polynomial(r, {0.5, 0.16666512191295624, 0.0416661873459816, 0.008369599469006062,
                             0.0013951711589470506});
    Value y = add(fma(q, mul(r, r), r), number(1));
    return scale(y, n);
  }

  Value exp2(Value x) {
    x = clamp(x, -151, 129);
    Value n = sub(add(x, number(magic)), number(magic));
    Value r = sub(x, n);
    Value q = polynomial(r, {0.6931471824645996, 0.24022650718688965, 0.0555032417178154,
                             0.009618005715310574, 0.0013401679461821914, 0.00015475941472686827});
    return scale(fma(q, r, number(1)), n);
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

  /// Which of 16 numbers, the low bits of `which` say.
  Value choose(ArrayRef<float> numbers, Value which) {
    auto all = DenseElementsAttr::get(cast<VectorType>(type), numbers);
    return intrinsic("llvm.x86.avx512.permvar.sf.512",
                     {arith::ConstantOp::create(b, loc, all), which});
  }

  Value erfInPieces(Value x) {
    const ErfPieces &pieces = ErfPieces::get();
    Value size = abs(x);
    Value piece = asBits(fma(size, number(1 / ErfPieces::width), number(magic)));
    Value from = sub(size, choose(pieces.centers, piece));
    Value sum = choose(pieces.coefficients[ErfPieces::degree], piece);
    for (int i = ErfPieces::degree - 1; i > 0; --i)
      sum = fma(sum, from, choose(pieces.coefficients[i], piece));
    Value isFirst =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, piece, asBits(number(magic)));
    Value start = select(isFirst, size, choose(pieces.coefficients[0], piece));
    // What the polynomial gives there is nothing.
    Value isFar =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, size, number(ErfPieces::end));
    return copySign(select(isFar, number(1), fma(sum, from, start)), x);
  }

  Value erf(Value x) {
    if (fillsAvx512)
      return erfInPieces(x);
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
  bool fillsAvx512; // a whole register of AVX-512
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

Value emitMath(OpBuilder &b, Location loc, StringRef operation, ValueRange operands,
               const CpuFeatures &cpu) {
  auto found = functions().find(operation);
  if (found == functions().end() || !getElementTypeOrSelf(operands[0].getType()).isF32())
    return {};
  F32 f(b, loc, operands[0].getType(), cpu);
  return found->second(f, operands);
}

} // namespace tw::target::cpu
