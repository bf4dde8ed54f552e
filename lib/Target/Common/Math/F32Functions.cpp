// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument is reduced exactly (Cody and Waite, "Software Manual for the Elementary Functions",
// 1980), the rest is a polynomial fitted to the reduced range. No branches; NaN stays NaN.
#include "Target/Common/Math/F32Functions.h"
#include "llvm/ADT/StringMap.h"
#include <limits>

using namespace mlir;

namespace tw::target {

Value F32Functions::scale(Value x, Value n) {
  // x 2^(n - 1) times 2, or x 2^(n + 63) times 2^-63 where that is no normal number.
  Value isSmall = less(n, number(-120));
  Value count = add(n, select(isSmall, number(magic + 127 + 63), number(magic + 127 - 1)));
  Value power = fromBits(arith::ShLIOp::create(b, loc, bits(count), integer(23)));
  Value scaled = mul(x, power);
  return mul(scaled, select(isSmall, number(0x1p-63), number(2)));
}

Value F32Functions::exp(Value x) {
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

Value F32Functions::exp2(Value x) {
  x = clamp(x, -151, 129);
  Value n = sub(add(x, number(magic)), number(magic));
  Value r = sub(x, n);
  Value q = polynomial(r, {0.6931471824645996, 0.24022650718688965, 0.0555032417178154,
                           0.009618005715310574, 0.0013401679461821914, 0.00015475941472686827});
  return scale(fma(q, r, number(1)), n);
}

/// log of 0, of infinity, and of what has none.
static Value atEdges(FloatBuilder &f, Value x, Value result) {
  double infinity = std::numeric_limits<double>::infinity();
  Value zero = f.number(0);
  result = f.select(f.equal(x, f.number(infinity)), f.number(infinity), result);
  result = f.select(f.equal(x, zero), f.number(-infinity), result);
  Value isPositive = f.compare(arith::CmpFPredicate::OGE, x, zero);
  return f.select(isPositive, result, f.number(std::numeric_limits<double>::quiet_NaN()));
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = f - f^2 / 2 + f^3 P(f), f = m - 1.
Value F32Functions::log(Value x) {
  Value isTiny = less(x, number(0x1p-126));
  Value scaled = select(isTiny, mul(x, number(0x1p23)), x);
  Value offset = select(isTiny, number(-23), number(0));
  // Moves the fraction's range from [1, 2) to [sqrt(1/2), sqrt(2)).
  Value shifted = arith::SubIOp::create(b, loc, bits(scaled), integer(0x3f3504f3));
  Value exponent = arith::ShRSIOp::create(b, loc, shifted, integer(23));
  Value fraction = arith::SubIOp::create(b, loc, bits(scaled),
                                         arith::ShLIOp::create(b, loc, exponent, integer(23)));
  Value f = sub(fromBits(fraction), number(1));
  Value e = add(arith::SIToFPOp::create(b, loc, type, exponent), offset);
  Value p = polynomial(f, {0.3333331346511841, -0.25000008940696716, 0.2000211924314499,
                           -0.16667994856834412, 0.142195463180542, -0.12405597418546677,
                           0.11888211220502853, -0.11675615608692169, 0.0674649178981781});
  Value square = mul(f, f);
  Value low = fma(e, number(1.428606765330187e-06), mul(mul(p, f), square));
  Value small = fma(square, number(-0.5), low);
  Value result = fma(e, number(0x1.62e4p-1), add(f, small));
  return atEdges(*this, x, result);
}

Value F32Functions::tanh(Value x) {
  Value square = mul(x, x);
  Value p = polynomial(square, {-0.33333277702331543, 0.13331328332424164, -0.05372921749949455,
                                0.020601972937583923, -0.005660754628479481});
  Value small = fma(mul(p, square), x, x);
  Value size = abs(x);
  Value e = exp(add(size, size));
  Value large = sub(number(1), div(number(2), add(e, number(1))));
  return copySign(select(less(size, number(0.625)), small, large), x); // of -0, too
}

Value F32Functions::erf(Value x) {
  Value square = mul(x, x), size = abs(x);
  Value p = polynomial(square, {0.12837916709551256, -0.3761262595653534, 0.11283600330352783,
                                -0.026854444295167923, 0.005189535208046436, -0.0008020838140510023,
                                7.889109110692516e-05});
  Value t = clamp(size, 0, 4);
  Value g = polynomial(t, {0.00020436551130842417, -1.129661202430725, -0.6330395340919495,
                           -0.10863908380270004, 0.02537362091243267, -0.004282413981854916,
                           0.0004637973615899682, -2.5316363462479785e-05, 2.514373704798345e-07});
  Value large = copySign(sub(number(1), exp(g)), x);
  return select(less(size, number(1)), fma(p, x, x), large);
}

Value F32Functions::emit(StringRef operation, Value x) {
  using Function = Value (*)(F32Functions &, Value);
  static const llvm::StringMap<Function> table = {
      {"math.exp", [](F32Functions &f, Value x) { return f.exp(x); }},
      {"math.exp2", [](F32Functions &f, Value x) { return f.exp2(x); }},
      {"math.log", [](F32Functions &f, Value x) { return f.log(x); }},
      {"math.tanh", [](F32Functions &f, Value x) { return f.tanh(x); }},
      {"math.erf", [](F32Functions &f, Value x) { return f.erf(x); }},
  };
  auto found = table.find(operation);
  return found == table.end() ? Value() : found->second(*this, x);
}

} // namespace tw::target
