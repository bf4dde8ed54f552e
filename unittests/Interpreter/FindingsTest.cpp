// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kind of finding, with its exact message, and its neighbours that are none.
#include "RunKernel.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// Programs 0 to P - 1, each with %p, %c0 and %t, a tile of one element that holds 2.
std::string programs(const std::string &arguments, const std::string &body,
                     const std::string &grid = "3", const Specs &inputs = {}) {
  return runKernel(
      "tile.kernel @k(" + arguments + ") grid [" + grid + "] {\n" +
          "%p = tile.program_id 0 %c0 = arith.constant 0 : index "
          "%c2 = arith.constant 2.0 : f32 %t = tile.full %c2 : f32 -> tensor<1xf32>\n" +
          body + "\n}\n",
      inputs);
}

const char *y = "out %y: !tile.buffer<[3], f32>";
const char *store = "tile.store %t, %y[%p] : tensor<1xf32>, !tile.buffer<[3], f32>";

TEST(Findings, None) { EXPECT_EQ(programs(y, store), "3xf32=2,2,2"); }

TEST(Findings, BoxBeginsOutside) {
  EXPECT_EQ(programs(y, store, "5"),
            "3xf32=2,2,2\n"
            "101 the box begins at [3], outside of \"y\", whose size is [3] @3 [3]\n"
            "101 the box begins at [4], outside of \"y\", whose size is [3] @3 [4]");
  EXPECT_EQ(programs(y, "tile.store %t, %y[%p] drop : tensor<1xf32>, !tile.buffer<[3], f32>", "5"),
            "3xf32=2,2,2");
  std::string load = "%v = tile.load %x[%p] : !tile.buffer<[3], f32> -> tensor<2xf32>";
  EXPECT_EQ(programs("in %x: !tile.buffer<[3], f32>", load, "3", {"3xf32=1"}), "");
  EXPECT_EQ(programs("in %x: !tile.buffer<[3], f32>", load, "4", {"3xf32=1"}),
            "\n101 the box begins at [3], outside of \"x\", whose size is [3] @3 [3]");
  EXPECT_EQ(
      programs("in %x: !tile.buffer<[3], f32>",
               "%v = tile.load %x[%p] pad %c2 : f32 : !tile.buffer<[3], f32> -> tensor<2xf32>", "4",
               {"3xf32=1"}),
      "");
}

TEST(Findings, TheRestIsCounted) {
  EXPECT_EQ(programs(y, store, "100"),
            "3xf32=2,2,2\n"
            "101 the box begins at [3], outside of \"y\", whose size is [3] @3 [3]\n"
            "101 the box begins at [4], outside of \"y\", whose size is [3] @3 [4]\n"
            "101 the box begins at [5], outside of \"y\", whose size is [3] @3 [5] +94");
}

TEST(Findings, PositionOutside) {
  auto run = [](const std::string &pad, const std::string &ids) {
    return runBody("in %x: !tile.buffer<[2], f32>, in %i: !tile.buffer<[2], i64>, "
                   "out %y: !tile.buffer<[2], f32>",
                   "%i2 = tile.load %i[%c0] : !tile.buffer<[2], i64> -> tensor<2xi64> "
                   "%c7 = arith.constant 7.0 : f32\n"
                   "%v = tile.gather %x[%i2 : tensor<2xi64>]" +
                       pad +
                       " : !tile.buffer<[2], f32> -> tensor<2xf32>\n"
                       "%w = tile.load %x[%i2 : tensor<2xi64>]" +
                       pad +
                       " : !tile.buffer<[2], f32> -> tensor<2xf32>\n"
                       "%s = arith.addf %v, %w : tensor<2xf32> "
                       "tile.store %s, %y[%c0] : tensor<2xf32>, !tile.buffer<[2], f32>",
                   {"2xf32=1,2", ids});
  };
  EXPECT_EQ(run("", "2xi64=1,0"), "2xf32=4,2");
  EXPECT_EQ(run("", "2xi64=1,-1"),
            "2xf32=4,0\n"
            "102 position [-1] is outside of \"x\", whose size is [2] @4 [0]\n"
            "102 position -1 along dimension 0 is outside of \"x\", whose size is [2] @5 [0]");
  EXPECT_EQ(run(" pad %c7 : f32", "2xi64=1,-1"), "2xf32=4,14");
}

TEST(Findings, TwoProgramsWrite) {
  EXPECT_EQ(programs("out %y: !tile.buffer<[1], f32>",
                     "tile.store %t, %y[%c0] : tensor<1xf32>, !tile.buffer<[1], f32>", "2"),
            "1xf32=2\n103 element [0] of \"y\" is also written by program [0] @3 [1]");
  const char *arguments = "out %y: !tile.buffer<[1], f32> init 1.0 : f32";
  EXPECT_EQ(programs(arguments,
                     "tile.store %t, %y[%c0] atomic add : tensor<1xf32>, !tile.buffer<[1], f32>"),
            "1xf32=7");
  EXPECT_EQ(programs("out %y: !tile.buffer<[1], f32>",
                     "%i = tile.iota 0 from %c0 : tensor<1xi32> "
                     "tile.scatter %t, %y[%i : tensor<1xi32>] atomic any : tensor<1xf32>, "
                     "!tile.buffer<[1], f32>"),
            "1xf32=2");
}

TEST(Findings, MixedAtomics) {
  EXPECT_EQ(programs("out %y: !tile.buffer<[1], f32> init 1.0 : f32",
                     "%even = arith.cmpi eq, %p, %c0 : index\n scf.if %even {\n"
                     "tile.store %t, %y[%c0] atomic add : tensor<1xf32>, !tile.buffer<[1], f32>\n"
                     "} else {\n"
                     "tile.store %t, %y[%c0] atomic max : tensor<1xf32>, !tile.buffer<[1], f32>\n}",
                     "2"),
            "1xf32=3\n104 element [0] of \"y\" is updated in another way by program [0] @7 [1]");
}

TEST(Findings, ReadOfAnothersElement) {
  const char *arguments = "inout %y: !tile.buffer<[3], f32>";
  std::string shift = "%c1 = arith.constant 1 : index %q = arith.SIGN %p, %c1 : index\n"
                      "%v = tile.load %y[%q] pad %c2 : f32 : !tile.buffer<[3], f32> -> "
                      "tensor<1xf32>\n"
                      "tile.store %v, %y[%p] : tensor<1xf32>, !tile.buffer<[3], f32>";
  std::string before = shift, after = shift;
  before.replace(before.find("SIGN"), 4, "subi");
  after.replace(after.find("SIGN"), 4, "addi");
  EXPECT_EQ(programs(arguments, before, "3", {"3xf32=5,6,7"}),
            "3xf32=2,2,2\n"
            "105 element [0] of \"y\" is read, and program [0] writes it @4 [1]\n"
            "105 element [1] of \"y\" is read, and program [1] writes it @4 [2]");
  EXPECT_EQ(programs(arguments, after, "3", {"3xf32=5,6,7"}),
            "3xf32=6,7,2\n"
            "105 element [1] of \"y\" is written, and program [0] reads it @5 [1]\n"
            "105 element [2] of \"y\" is written, and program [1] reads it @5 [2]");
}

TEST(Findings, WrittenTwiceAtOnce) {
  auto run = [](const std::string &how, const std::string &ids) {
    return runBody("in %i: !tile.buffer<[2], i64>, inout %y: !tile.buffer<[2], i8>",
                   "%i2 = tile.load %i[%c0] : !tile.buffer<[2], i64> -> tensor<2xi64> "
                   "%one = arith.constant 1 : i8 %t = tile.full %one : i8 -> tensor<2xi8>\n"
                   "tile.scatter %t, %y[%i2 : tensor<2xi64>]" +
                       how + " : tensor<2xi8>, !tile.buffer<[2], i8>",
                   {ids, "2xi8=5,6"});
  };
  EXPECT_EQ(run("", "2xi64=1,0"), "2xi8=1,1");
  EXPECT_EQ(run("", "2xi64=1,1"),
            "2xi8=5,1\n106 element [1] of \"y\" is written twice at once @4 [0]");
  EXPECT_EQ(run(" atomic any", "2xi64=1,1"), "2xi8=5,1");
  EXPECT_EQ(run(" atomic add", "2xi64=1,1"), "2xi8=5,8");
}

TEST(Findings, NeverWritten) {
  EXPECT_EQ(programs("out %y: !tile.buffer<[4], f32>",
                     "tile.store %t, %y[%p] : tensor<1xf32>, !tile.buffer<[4], f32>", "1"),
            "4xf32=2,nan,nan,nan\n107 element [1] of \"y\" is never written @3 +2");
  EXPECT_EQ(programs("out %y: !tile.buffer<[2], f32>",
                     "tile.store %t, %y[%p] : tensor<1xf32>, !tile.buffer<[2], f32>", "0"),
            "2xf32=nan,nan\n107 element [0] of \"y\" is never written @3 +1");
  EXPECT_EQ(programs("out %y: !tile.buffer<[2], i16>", "", "1"),
            "error 3: nothing is ever stored to output y");
  EXPECT_EQ(programs("out %y: !tile.buffer<[2], f32> init 3.0 : f32", "", "0"), "2xf32=3,3");
}

TEST(Findings, ReadBeforeWritten) {
  std::string load = "%v = tile.load %y[%p] : !tile.buffer<[3], f32> -> tensor<1xf32>\n";
  EXPECT_EQ(programs(y, store + ("\n" + load)), "3xf32=2,2,2");
  EXPECT_EQ(programs(y, load + store, "3"),
            "3xf32=2,2,2\n"
            "108 element [0] of \"y\" is read before the program wrote it @3 [0]\n"
            "108 element [1] of \"y\" is read before the program wrote it @3 [1]\n"
            "108 element [2] of \"y\" is read before the program wrote it @3 [2]");
  EXPECT_EQ(programs("out %y: !tile.buffer<[1], f32>",
                     "tile.store %t, %y[%c0] atomic add : tensor<1xf32>, !tile.buffer<[1], f32>",
                     "1"),
            "1xf32=nan\n108 element [0] of \"y\" is updated before it was written @3 [0]");
}

TEST(Findings, ZeroStep) {
  EXPECT_EQ(programs(y, store + std::string("\n"
                                            "tile.for %i = %c0 to %p step %c0 {\n}")),
            "3xf32=2,2,2\n"
            "109 the step of the loop is 0, so it makes no trip @4 [0]\n"
            "109 the step of the loop is 0, so it makes no trip @4 [1]\n"
            "109 the step of the loop is 0, so it makes no trip @4 [2]");
}

TEST(Findings, FailedCheck) {
  std::string arguments = "in %i: !tile.buffer<[3], i32>, out %y: !tile.buffer<[3], i32>";
  std::string body = "%i3 = tile.load %i[%c0] : !tile.buffer<[3], i32> -> tensor<3xi32>\n"
                     "%c5 = arith.constant 5 : index\n"
                     "%s = tile.check %i3 in %c5, \"%s: id %lld of %lld\" : tensor<3xi32>\n"
                     "tile.store %s, %y[%c0] : tensor<3xi32>, !tile.buffer<[3], i32>";
  EXPECT_EQ(runBody(arguments, body, {"3xi32=4,5,-1"}),
            "3xi32=4,0,0\n6 %s: id 5 of 5 @5 [0]\n6 %s: id -1 of 5 @5 [0]");
  EXPECT_EQ(runBody(arguments, body, {"3xi32=4,5,-1"}, {.check = false}), "error 6: %s: id 5 of 5");
}

TEST(Findings, MaskedOffIsNotTouched) {
  std::string body = "%mask = tile.load %m[%c0] : !tile.buffer<[2], i1> -> tensor<2xi1> "
                     "%c9 = arith.constant 9 : index %one = arith.constant 1 : i8 "
                     "%t = tile.full %one : i8 -> tensor<2xi8>\n"
                     "%v = tile.load %y[%c9] mask %mask : tensor<2xi1> "
                     ": !tile.buffer<[2], i8> -> tensor<2xi8>\n"
                     "tile.store %t, %y[%c0] mask %mask : tensor<2xi1> "
                     ": tensor<2xi8>, !tile.buffer<[2], i8>";
  std::string arguments = "in %m: !tile.buffer<[2], i1>, out %y: !tile.buffer<[2], i8>";
  EXPECT_EQ(runBody(arguments, body, {"2xbool=0,0"}),
            "2xi8=-1,-1\n107 element [0] of \"y\" is never written @5 +1");
  EXPECT_EQ(runBody(arguments, body, {"2xbool=1,1"}),
            "2xi8=1,1\n101 the box begins at [9], outside of \"y\", whose size is [2] @4 [0]");
}

} // namespace
} // namespace tw
