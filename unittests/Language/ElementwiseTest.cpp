// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations element by element, for each kind of dtype: which MLIR operation they are, or that
// they are refused; and all casts.
#include "Parse.h"
#include <gtest/gtest.h>

using namespace tw::kernel;

namespace {

struct Elementwise {
  Tile (*function)(Tile);
  const char *onFloat, *onSigned, *onUnsigned, *onBool;
};

const Elementwise elementwise[] = {
    {[](Tile x) { return x + x; }, "arith.addf", "arith.addi", "arith.addi", ""},
    {[](Tile x) { return x - x; }, "arith.subf", "arith.subi", "arith.subi", ""},
    {[](Tile x) { return x * x; }, "arith.mulf", "arith.muli", "arith.muli", ""},
    {[](Tile x) { return x / x; }, "arith.divf", "arith.divsi", "arith.divui", ""},
    {[](Tile x) { return x % x; }, "arith.remf", "arith.remsi", "arith.remui", ""},
    {[](Tile x) { return -x; }, "arith.negf", "arith.subi", "arith.subi", ""},
    {[](Tile x) { return maximum(x, x); }, "arith.maximumf", "arith.maxsi", "arith.maxui",
     "arith.ori"},
    {[](Tile x) { return minimum(x, x); }, "arith.minimumf", "arith.minsi", "arith.minui",
     "arith.andi"},
    {[](Tile x) { return x & x; }, "", "arith.andi", "arith.andi", "arith.andi"},
    {[](Tile x) { return x | x; }, "", "arith.ori", "arith.ori", "arith.ori"},
    {[](Tile x) { return x ^ x; }, "", "arith.xori", "arith.xori", "arith.xori"},
    {[](Tile x) { return ~x; }, "", "arith.xori", "arith.xori", "arith.xori"},
    {[](Tile x) { return x << x; }, "", "arith.shli", "arith.shli", ""},
    {[](Tile x) { return x >> x; }, "", "arith.shrsi", "arith.shrui", ""},
    {[](Tile x) { return x && x; }, "", "", "", "arith.andi"},
    {[](Tile x) { return x || x; }, "", "", "", "arith.ori"},
    {[](Tile x) { return !x; }, "", "", "", "arith.xori"},
    {[](Tile x) { return x == x; }, "arith.cmpf oeq", "arith.cmpi eq", "arith.cmpi eq",
     "arith.cmpi eq"},
    {[](Tile x) { return x != x; }, "arith.cmpf une", "arith.cmpi ne", "arith.cmpi ne",
     "arith.cmpi ne"},
    {[](Tile x) { return x < x; }, "arith.cmpf olt", "arith.cmpi slt", "arith.cmpi ult", ""},
    {[](Tile x) { return x <= x; }, "arith.cmpf ole", "arith.cmpi sle", "arith.cmpi ule", ""},
    {[](Tile x) { return x > x; }, "arith.cmpf ogt", "arith.cmpi sgt", "arith.cmpi ugt", ""},
    {[](Tile x) { return x >= x; }, "arith.cmpf oge", "arith.cmpi sge", "arith.cmpi uge", ""},
    {[](Tile x) { return keep(x); }, "tile.keep", "tile.keep", "tile.keep", "tile.keep"},
    {[](Tile x) { return abs(x); }, "math.absf", "math.absi", "tile.full", ""},
    {[](Tile x) { return max(x, 0); }, "tile.reduce max", "tile.reduce max", "tile.reduce umax",
     ""},
    {[](Tile x) { return min(x, 0); }, "tile.reduce min", "tile.reduce min", "tile.reduce umin",
     ""},
    {[](Tile x) { return sum(x, 0); }, "tile.reduce sum", "tile.reduce sum", "tile.reduce sum", ""},
    {[](Tile x) { return prod(x, 0); }, "tile.reduce prod", "tile.reduce prod", "tile.reduce prod",
     ""},
    {[](Tile x) { return argmax(x, 0); }, "tile.reduce argmax", "tile.reduce argmax",
     "tile.reduce argmax", ""},
    {[](Tile x) { return argmin(x, 0); }, "tile.reduce argmin", "tile.reduce argmin",
     "tile.reduce argmin", ""},
    {[](Tile x) { return any(x, 0); }, "", "", "", "tile.reduce or"},
    {[](Tile x) { return all(x, 0); }, "", "", "", "tile.reduce and"},
    {[](Tile x) { return cumsum(x, 0); }, "tile.scan sum", "tile.scan sum", "tile.scan sum", ""},
    {[](Tile x) { return cumprod(x, 0); }, "tile.scan prod", "tile.scan prod", "tile.scan prod",
     ""},
    {[](Tile x) { return cummax(x, 0); }, "tile.scan max", "tile.scan max", "", ""},
    {[](Tile x) { return cummin(x, 0); }, "tile.scan min", "tile.scan min", "", ""},
    {[](Tile x) { return pow(x, x); }, "math.powf", "", "", ""},
    {[](Tile x) { return atan2(x, x); }, "math.atan2", "", "", ""},
    {[](Tile x) { return copysign(x, x); }, "math.copysign", "", "", ""},
    {[](Tile x) { return fma(x, x, x); }, "math.fma", "", "", ""},
    {[](Tile x) { return exp(x); }, "math.exp ", "", "", ""},
    {[](Tile x) { return exp2(x); }, "math.exp2 ", "", "", ""},
    {[](Tile x) { return expm1(x); }, "math.expm1 ", "", "", ""},
    {[](Tile x) { return log(x); }, "math.log ", "", "", ""},
    {[](Tile x) { return log2(x); }, "math.log2 ", "", "", ""},
    {[](Tile x) { return log10(x); }, "math.log10 ", "", "", ""},
    {[](Tile x) { return erfc(x); }, "math.erfc ", "", "", ""},
    {[](Tile x) { return log1p(x); }, "math.log1p ", "", "", ""},
    {[](Tile x) { return sin(x); }, "math.sin ", "", "", ""},
    {[](Tile x) { return cos(x); }, "math.cos ", "", "", ""},
    {[](Tile x) { return tan(x); }, "math.tan ", "", "", ""},
    {[](Tile x) { return asin(x); }, "math.asin ", "", "", ""},
    {[](Tile x) { return acos(x); }, "math.acos ", "", "", ""},
    {[](Tile x) { return atan(x); }, "math.atan ", "", "", ""},
    {[](Tile x) { return sinh(x); }, "math.sinh ", "", "", ""},
    {[](Tile x) { return cosh(x); }, "math.cosh ", "", "", ""},
    {[](Tile x) { return tanh(x); }, "math.tanh ", "", "", ""},
    {[](Tile x) { return asinh(x); }, "math.asinh ", "", "", ""},
    {[](Tile x) { return acosh(x); }, "math.acosh ", "", "", ""},
    {[](Tile x) { return atanh(x); }, "math.atanh ", "", "", ""},
    {[](Tile x) { return erf(x); }, "math.erf ", "", "", ""},
    {[](Tile x) { return sqrt(x); }, "math.sqrt ", "", "", ""},
    {[](Tile x) { return rsqrt(x); }, "math.rsqrt ", "", "", ""},
    {[](Tile x) { return floor(x); }, "math.floor ", "", "", ""},
    {[](Tile x) { return ceil(x); }, "math.ceil ", "", "", ""},
    {[](Tile x) { return trunc(x); }, "math.trunc ", "", "", ""},
    {[](Tile x) { return round(x); }, "math.round ", "", "", ""},
    {[](Tile x) { return roundEven(x); }, "math.roundeven ", "", "", ""},
    {[](Tile x) { return sigmoid(x); }, "arith.divf", "", "", ""},
};

/// Traces one operation on a tile; "" if it is refused.
std::string textOf(const Elementwise &row, DType dtype) {
  auto kernel = [&] {
    grid(1);
    row.function(zeros({4}, dtype));
  };
  return trace("k", kernel).error ? "" : tw::traced(kernel);
}

TEST(Elementwise, EachDType) {
  for (const Elementwise &row : elementwise) {
    auto expect = [&](DType dtype, const char *operation) {
      std::string text = textOf(row, dtype);
      EXPECT_EQ(text.empty(), *operation == 0) << row.onFloat << "/" << row.onBool << "\n" << text;
      EXPECT_NE(text.find(operation), std::string::npos) << operation << "\n" << text;
    };
    for (DType dtype : {f16, bf16, f32, f64})
      expect(dtype, row.onFloat);
    for (DType dtype : {i8, i16, i32, i64})
      expect(dtype, row.onSigned);
    expect(u8, row.onUnsigned);
    expect(i1, row.onBool);
  }
}

/// The operations that a cast becomes, without their operands.
std::string castText(DType from, DType to) {
  std::string text = tw::traced([&] {
    Buffer x = input("x", from, {4}), y = output("y", to, {4});
    grid(1);
    store(y, {0}, cast(load(x, {0}, {4}), to));
  });
  std::string names;
  for (size_t at = text.find("tile.load"); (at = text.find("= arith.", at)) != std::string::npos;) {
    size_t start = at + 8, end = text.find(' ', start);
    std::string name = text.substr(start, end - start);
    if (name != "constant")
      names += (names.empty() ? "" : " ") + name;
    at = end;
  }
  return names;
}

TEST(Cast, AllPairs) {
  const DType dtypes[] = {f16, bf16, f32, f64, i8, i16, i32, i64, u8, i1};
  for (DType from : dtypes)
    for (DType to : dtypes)
      EXPECT_EQ(castText(from, to).empty(),
                from == to || (from == i8 && to == u8) || (from == u8 && to == i8));
}

TEST(Cast, Signs) {
  EXPECT_EQ(castText(u8, i32), "extui");
  EXPECT_EQ(castText(i8, i32), "extsi");
  EXPECT_EQ(castText(i1, i32), "extui");
  EXPECT_EQ(castText(u8, f32), "uitofp");
  EXPECT_EQ(castText(i8, f32), "sitofp");
  EXPECT_EQ(castText(i1, f16), "uitofp");
  EXPECT_EQ(castText(f32, u8), "fptoui");
  EXPECT_EQ(castText(f32, i8), "fptosi");
  EXPECT_EQ(castText(i64, u8), "trunci");
  EXPECT_EQ(castText(f32, i1), "cmpf");
  EXPECT_EQ(castText(u8, i1), "cmpi");
  EXPECT_EQ(castText(f16, bf16), "extf truncf");
  EXPECT_EQ(castText(f16, f64), "extf");
  EXPECT_EQ(castText(f64, bf16), "truncf");
}

TEST(Elementwise, SigmoidOfHalvesIsInSingle) {
  std::string text = tw::traced([] {
    grid(1);
    sigmoid(zeros({4}, f16));
  });
  EXPECT_NE(text.find("math.exp %3 : tensor<4xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("arith.truncf"), std::string::npos) << text;
}

} // namespace
