// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of elementwise operations, and a row of numbers for each.
#include "Interpreter/Elementwise.h"
#include "IR/Tile/Elementwise.h"
#include "RunKernel.h"
#include <gtest/gtest.h>
#include <set>

namespace tw {
namespace {

TEST(Elementwise, TableIsThatOfTheDialect) {
  std::set<std::string> have, want;
  for (auto table : {interpreter::arithFunctions(), interpreter::mathFunctions()})
    for (const auto &row : table)
      EXPECT_TRUE(have.insert(std::string(row.name)).second) << row.name << " is there twice";
  for (llvm::StringRef name : tile::elementwiseOperations())
    want.insert(name.str());
  EXPECT_EQ(have, want);
}

/// op on the tile of `from` in %a (and %b, if there is a second input), giving a tile of `to`.
std::string apply(const std::string &op, const std::string &from, const std::string &to,
                  const Specs &inputs, const interpreter::Options &options = {}) {
  std::string n = inputs[0].substr(0, inputs[0].find('x'));
  auto tile = [&](const std::string &type) { return "tensor<" + n + "x" + type + ">"; };
  auto buffer = [&](const std::string &type) { return "!tile.buffer<[" + n + "], " + type + ">"; };
  std::string arguments, body, type = from == to ? tile(from) : tile(from) + " to " + tile(to);
  if (op.find("cmp") != op.npos)
    type = tile(from);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string name(1, char('a' + i));
    arguments += "in %m" + name + ": " + buffer(from) + ", ";
    body += "%" + name + " = tile.load %m" + name + "[%c0] : " + buffer(from) + " -> " +
            tile(from) + "\n";
  }
  std::string operands = inputs.size() == 1 ? "%a" : inputs.size() == 2 ? "%a, %b" : "%a, %b, %c";
  body += "%r = " + op + (op.ends_with(',') ? " " : " ") + operands + " : " + type +
          "\ntile.store %r, %y[%c0] : " + tile(to) + ", " + buffer(to);
  std::string result = runBody(arguments + "out %y: " + buffer(to), body, inputs, options);
  size_t equals = result.find('=');
  return equals == result.npos || equals > 12 ? result : result.substr(equals + 1);
}

struct Row {
  const char *op, *from, *to;
  Specs inputs;
  const char *result;
};

void check(const std::vector<Row> &rows) {
  for (const Row &row : rows)
    EXPECT_EQ(apply(row.op, row.from, row.to, row.inputs), row.result)
        << row.op << " " << row.from << " " << row.to;
}

TEST(Elementwise, Integers) {
  check({
      {"arith.addi", "i8", "i8", {"2xi8=127,-1", "2xi8=1,1"}, "-128,0"},
      {"arith.subi", "i8", "i8", {"2xi8=-128,1", "2xi8=1,2"}, "127,-1"},
      {"arith.muli", "i16", "i16", {"2xi16=300,-5", "2xi16=300,3"}, "24464,-15"},
      {"arith.muli", "i64", "i64", {"1xi64=9223372036854775807", "1xi64=2"}, "-2"},
      {"arith.divsi", "i8", "i8", {"4xi8=7,-7,-128,5", "4xi8=2,2,-1,0"}, "3,-3,-128,0"},
      {"arith.divui", "i8", "i8", {"3xi8=-1,-1,4", "3xi8=2,-1,0"}, "127,1,0"},
      {"arith.remsi", "i8", "i8", {"4xi8=7,-7,-128,5", "4xi8=2,2,-1,0"}, "1,-1,0,0"},
      {"arith.remui", "i8", "i8", {"3xi8=-1,7,4", "3xi8=16,-1,0"}, "15,7,0"},
      {"arith.divsi",
       "i64",
       "i64",
       {"1xi64=-9223372036854775808", "1xi64=-1"},
       "-9223372036854775808"},
      {"arith.andi", "i8", "i8", {"2xi8=6,-1", "2xi8=3,5"}, "2,5"},
      {"arith.ori", "i8", "i8", {"1xi8=6", "1xi8=3"}, "7"},
      {"arith.xori", "i1", "i1", {"4xbool=0,0,1,1", "4xbool=0,1,0,1"}, "0,1,1,0"},
      {"arith.addi", "i1", "i1", {"4xbool=0,0,1,1", "4xbool=0,1,0,1"}, "0,1,1,0"},
      {"arith.shli", "i8", "i8", {"4xi8=1,1,1,-1", "4xi8=6,7,8,-1"}, "64,-128,0,0"},
      {"arith.shrsi", "i8", "i8", {"4xi8=-128,-128,-128,127", "4xi8=1,7,8,100"}, "-64,-1,-1,0"},
      {"arith.shrui", "i8", "i8", {"3xi8=-128,-128,-1", "3xi8=1,7,8"}, "64,1,0"},
      {"arith.maxsi", "i8", "i8", {"2xi8=-1,3", "2xi8=1,2"}, "1,3"},
      {"arith.maxui", "i8", "i8", {"2xi8=-1,3", "2xi8=1,2"}, "-1,3"},
      {"arith.minsi", "i8", "i8", {"2xi8=-1,3", "2xi8=1,2"}, "-1,2"},
      {"arith.minui", "i8", "i8", {"2xi8=-1,3", "2xi8=1,2"}, "1,2"},
      {"math.absi", "i8", "i8", {"3xi8=-128,-5,5"}, "-128,5,5"},
      {"arith.cmpi slt,", "i8", "i1", {"3xi8=-1,1,2", "3xi8=0,1,1"}, "1,0,0"},
      {"arith.cmpi ult,", "i8", "i1", {"3xi8=-1,1,0", "3xi8=0,1,1"}, "0,0,1"},
      {"arith.cmpi uge,", "i64", "i1", {"2xi64=-1,0", "2xi64=0,1"}, "1,0"},
      {"arith.cmpi sle,", "i8", "i1", {"3xi8=-1,1,2", "3xi8=0,1,1"}, "1,1,0"},
      {"arith.cmpi ne,", "i8", "i1", {"2xi8=-1,1", "2xi8=0,1"}, "1,0"},
      {"arith.cmpi slt,", "i1", "i1", {"2xbool=0,1", "2xbool=1,0"}, "0,1"}, // true is -1
  });
}

TEST(Elementwise, Floats) {
  check({
      {"arith.addf", "f16", "f16", {"2xf16=2048,1", "2xf16=1,0.0002"}, "2048,1"},
      {"arith.addf", "bf16", "bf16", {"2xbf16=256,1", "2xbf16=1,0.01"}, "256,1.0078125"},
      {"arith.addf", "f32", "f32", {"1xf32=16777216", "1xf32=1"}, "16777216"},
      {"arith.mulf", "f16", "f16", {"1xf16=256", "1xf16=256"}, "inf"},
      {"arith.subf", "f64", "f64", {"1xf64=0.3", "1xf64=0.1"}, "0.19999999999999998"},
      {"arith.divf", "f32", "f32", {"3xf32=1,-1,0", "3xf32=3,0,0"}, "0.33333334,-inf,-nan"},
      {"arith.remf", "f32", "f32", {"2xf32=5.5,-5.5", "2xf32=2,2"}, "1.5,-1.5"},
      {"arith.negf", "f32", "f32", {"2xf32=0,-1"}, "-0,1"},
      {"arith.maximumf", "f32", "f32", {"3xf32=nan,1,-0", "3xf32=1,2,0"}, "nan,2,0"},
      {"arith.minimumf", "f32", "f32", {"3xf32=nan,1,0", "3xf32=1,2,-0"}, "nan,1,-0"},
      {"arith.maxnumf", "f32", "f32", {"3xf32=nan,1,-0", "3xf32=1,nan,0"}, "1,1,0"},
      {"arith.minnumf", "f32", "f32", {"3xf32=nan,1,0", "3xf32=1,nan,-0"}, "1,1,-0"},
      {"arith.cmpf olt,", "f32", "i1", {"3xf32=1,nan,2", "3xf32=2,1,1"}, "1,0,0"},
      {"arith.cmpf ult,", "f32", "i1", {"3xf32=1,nan,2", "3xf32=2,1,1"}, "1,1,0"},
      {"arith.cmpf one,", "f32", "i1", {"3xf32=1,nan,2", "3xf32=2,1,2"}, "1,0,0"},
      {"arith.cmpf une,", "f32", "i1", {"3xf32=1,nan,2", "3xf32=2,1,2"}, "1,1,0"},
      {"arith.cmpf ueq,", "f32", "i1", {"3xf32=1,nan,2", "3xf32=2,1,2"}, "0,1,1"},
      {"arith.cmpf uno,", "f32", "i1", {"2xf32=1,nan", "2xf32=2,1"}, "0,1"},
      {"arith.cmpf true,", "f32", "i1", {"1xf32=1", "1xf32=2"}, "1"},
  });
}

TEST(Elementwise, Casts) {
  check({
      {"arith.extf", "bf16", "f32", {"1xbf16=0.1"}, "0.100097656"},
      {"arith.truncf", "f32", "bf16", {"2xf32=0.1,1.00390625"}, "0.100097656,1"},
      {"arith.truncf", "f64", "f32", {"1xf64=0.1"}, "0.1"},
      // A little more than the middle of two bf16 numbers, which f32 would round to the middle.
      {"arith.truncf", "f64", "bf16", {"1xf64=1.003906250000001"}, "1.0078125"},
      {"arith.extsi", "i8", "i32", {"2xi8=-1,5"}, "-1,5"},
      {"arith.extui", "i8", "i32", {"2xi8=-1,5"}, "255,5"},
      {"arith.extsi", "i1", "i8", {"2xbool=0,1"}, "0,-1"},
      {"arith.extui", "i1", "i8", {"2xbool=0,1"}, "0,1"},
      {"arith.trunci", "i32", "i8", {"2xi32=200,-257"}, "-56,-1"},
      {"arith.trunci", "i32", "i1", {"2xi32=2,3"}, "0,1"},
      {"arith.sitofp", "i8", "f32", {"2xi8=-1,5"}, "-1,5"},
      {"arith.uitofp", "i8", "f32", {"2xi8=-1,5"}, "255,5"},
      {"arith.sitofp", "i32", "f16", {"1xi32=70000"}, "inf"},
      {"arith.fptosi", "f32", "i8", {"6xf32=1.9,-1.9,200,-200,nan,inf"}, "1,-1,127,-128,0,127"},
      {"arith.fptoui", "f32", "i8", {"5xf32=200.5,300,-1,nan,-0.5"}, "-56,-1,0,0,0"},
      {"arith.fptosi",
       "f64",
       "i64",
       {"2xf64=1e30,-1e30"},
       "9223372036854775807,-9223372036854775808"},
      {"arith.fptoui", "f64", "i64", {"2xf64=1e30,1.8e19"}, "-1,-446744073709551616"},
  });
}

TEST(Elementwise, Math) {
  check({
      {"math.exp", "f32", "f32", {"3xf32=0,1,-inf"}, "1,2.7182817,0"},
      {"math.exp2", "f32", "f32", {"2xf32=3,-1"}, "8,0.5"},
      {"math.expm1", "f32", "f32", {"1xf32=1e-8"}, "1e-08"},
      {"math.log", "f32", "f32", {"2xf32=1,0"}, "0,-inf"},
      {"math.log2", "f32", "f32", {"1xf32=8"}, "3"},
      {"math.log10", "f32", "f32", {"1xf32=1000"}, "3"},
      {"math.erfc", "f64", "f64", {"1xf64=0"}, "1"},
      {"math.log1p", "f32", "f32", {"1xf32=1e-8"}, "1e-08"},
      {"math.tanh", "f32", "f32", {"2xf32=0.5,100"}, "0.46211717,1"},
      {"math.erf", "f32", "f32", {"1xf32=0.5"}, "0.5204999"},
      {"math.sin", "f32", "f32", {"1xf32=1"}, "0.84147096"},
      {"math.cos", "f32", "f32", {"1xf32=1"}, "0.5403023"},
      {"math.tan", "f32", "f32", {"1xf32=1"}, "1.5574077"},
      {"math.asin", "f32", "f32", {"1xf32=0.5"}, "0.5235988"},
      {"math.acos", "f32", "f32", {"1xf32=0.5"}, "1.0471976"},
      {"math.atan", "f32", "f32", {"1xf32=1"}, "0.7853982"},
      {"math.atan2", "f32", "f32", {"1xf32=1", "1xf32=-1"}, "2.3561945"},
      {"math.sinh", "f32", "f32", {"1xf32=1"}, "1.1752012"},
      {"math.cosh", "f32", "f32", {"1xf32=1"}, "1.5430807"},
      {"math.asinh", "f32", "f32", {"1xf32=1"}, "0.8813736"},
      {"math.acosh", "f32", "f32", {"1xf32=2"}, "1.316958"},
      {"math.atanh", "f32", "f32", {"1xf32=0.5"}, "0.54930615"},
      {"math.sqrt", "f32", "f32", {"1xf32=2"}, "1.4142135"},
      {"math.rsqrt", "f32", "f32", {"2xf32=4,0"}, "0.5,inf"},
      {"math.powf", "f32", "f32", {"2xf32=2,-2", "2xf32=10,3"}, "1024,-8"},
      {"math.fma", "f32", "f32", {"1xf32=3", "1xf32=4", "1xf32=5"}, "17"},
      {"math.absf", "f32", "f32", {"1xf32=-2"}, "2"},
      {"math.floor", "f32", "f32", {"2xf32=1.5,-1.5"}, "1,-2"},
      {"math.ceil", "f32", "f32", {"2xf32=1.5,-1.5"}, "2,-1"},
      {"math.round", "f32", "f32", {"3xf32=0.5,1.5,-2.5"}, "1,2,-3"},
      {"math.roundeven", "f32", "f32", {"3xf32=0.5,1.5,-2.5"}, "0,2,-2"},
      {"math.trunc", "f32", "f32", {"2xf32=1.5,-1.5"}, "1,-1"},
      {"math.copysign", "f32", "f32", {"1xf32=2", "1xf32=-0"}, "-2"},
  });
}

TEST(Elementwise, KeptElementsAreTheSame) {
  check({
      {"tile.keep", "f32", "f32", {"3xf32=1.5,-0,nan"}, "1.5,-0,nan"},
      {"tile.keep", "bf16", "bf16", {"1xbf16=-2.5"}, "-2.5"},
      {"tile.keep", "i8", "i8", {"2xi8=-128,127"}, "-128,127"},
  });
}

TEST(Elementwise, NothingIsRoundedInF64) {
  EXPECT_EQ(apply("arith.addf", "bf16", "bf16", {"1xbf16=256", "1xbf16=1"}, {.f64 = true}), "257");
}

TEST(Elementwise, SelectAndIndex) {
  EXPECT_EQ(runBody("%p: i1, in %x: !tile.buffer<[2], f32>, out %y: !tile.buffer<[2], f32>",
                    "%a = tile.load %x[%c0] : !tile.buffer<[2], f32> -> tensor<2xf32> "
                    "%b = math.exp %a : tensor<2xf32> "
                    "%s = arith.select %p, %a, %b : tensor<2xf32> "
                    "tile.store %s, %y[%c0] : tensor<2xf32>, !tile.buffer<[2], f32>",
                    {"bool=1", "2xf32=3,0"}),
            "2xf32=3,0");
  EXPECT_EQ(runBody("%n: index, out %y: !tile.buffer<[2], i32>",
                    "%i = tile.iota 0 from %n : tensor<2xindex> "
                    "%j = arith.index_cast %i : tensor<2xindex> to tensor<2xi32> "
                    "tile.store %j, %y[%c0] : tensor<2xi32>, !tile.buffer<[2], i32>",
                    {"i64=4294967297"}),
            "2xi32=1,2");
}

} // namespace
} // namespace tw
