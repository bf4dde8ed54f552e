// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.for and scf.if: trips, bounds that nobody expects, sums that are carried on.
#include "RunKernel.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// The sum of the induction values and how many there were.
std::string loop(const std::string &begin, const std::string &end, const std::string &step,
                 const interpreter::Options &options = {}) {
  return runBody("%b: index, %e: index, %s: index, out %y: !tile.buffer<[2], i64>",
                 "%zero = arith.constant 0 : i64 %one = arith.constant 1 : i64 "
                 "%c1 = arith.constant 1 : index\n"
                 "%r:2 = tile.for %i = %b to %e step %s carry (%sum = %zero : i64, "
                 "%n = %zero : i64) {\n"
                 "  %j = arith.index_cast %i : index to i64 %t = arith.addi %sum, %j : i64 "
                 "%m = arith.addi %n, %one : i64\n tile.yield %t, %m : i64, i64\n}\n"
                 "%t0 = tile.full %r#0 : i64 -> tensor<1xi64> "
                 "tile.store %t0, %y[%c0] : tensor<1xi64>, !tile.buffer<[2], i64>\n"
                 "%t1 = tile.full %r#1 : i64 -> tensor<1xi64> "
                 "tile.store %t1, %y[%c1] : tensor<1xi64>, !tile.buffer<[2], i64>",
                 {"i64=" + begin, "i64=" + end, "i64=" + step}, options);
}

TEST(Loop, Trips) {
  EXPECT_EQ(loop("0", "10", "3"), "2xi64=18,4");
  EXPECT_EQ(loop("0", "9", "3"), "2xi64=9,3");
  EXPECT_EQ(loop("5", "5", "1"), "2xi64=0,0");
  EXPECT_EQ(loop("5", "4", "1"), "2xi64=0,0");
  EXPECT_EQ(loop("10", "0", "-4"), "2xi64=18,3");
  EXPECT_EQ(loop("0", "10", "-1"), "2xi64=0,0");
  EXPECT_EQ(loop("0", "10", "0", {.check = false}), "2xi64=0,0");
}

TEST(Loop, BoundsAreExact) {
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  EXPECT_EQ(loop(least, most, most), "2xi64=-3,3"); // least, -1, most - 1
  EXPECT_EQ(loop(most, least, least), "2xi64=9223372036854775806,2");
}

TEST(Loop, OperationsAreLimited) {
  EXPECT_EQ(loop("0", "9223372036854775807", "1", {.mostOperations = 100000}),
            "error 5: the kernel takes more than 100000 operations on elements");
}

TEST(Loop, CarriedSumsAreNotRounded) {
  auto sum = [](const std::string &body) {
    return runBody("out %y: !tile.buffer<[1], bf16>",
                   "%c1 = arith.constant 1 : index %c1000 = arith.constant 1000 : index "
                   "%zero = arith.constant 0.0 : bf16 %one = arith.constant 1.0 : bf16\n"
                   "%r = tile.for %i = %c0 to %c1000 step %c1 carry (%x = %zero : bf16) {\n" +
                       body +
                       "\n tile.yield %z : bf16\n}\n"
                       "%t = tile.full %r : bf16 -> tensor<1xbf16> "
                       "tile.store %t, %y[%c0] : tensor<1xbf16>, !tile.buffer<[1], bf16>",
                   {});
  };
  EXPECT_EQ(sum("%z = arith.addf %x, %one : bf16"), "1xbf16=1000");
  // An inner loop that only adds goes on with the sum; any other use ends it.
  EXPECT_EQ(sum("%z = tile.for %j = %c0 to %c1 step %c1 carry (%v = %x : bf16) {\n"
                "%w = arith.addf %one, %v : bf16 tile.yield %w : bf16\n}"),
            "1xbf16=1000");
  EXPECT_EQ(sum("%v = arith.mulf %x, %one : bf16 %z = arith.addf %v, %one : bf16"), "1xbf16=256");
}

TEST(Loop, If) {
  auto choose = [](const std::string &p) {
    return runBody("%p: i1, out %y: !tile.buffer<[1], i8>",
                   "%a = arith.constant 1 : i8 %b = arith.constant 2 : i8\n"
                   "%r = scf.if %p -> (i8) {\n scf.yield %a : i8\n} else {\n scf.yield %b : i8\n}\n"
                   "%t = tile.full %r : i8 -> tensor<1xi8> "
                   "tile.store %t, %y[%c0] : tensor<1xi8>, !tile.buffer<[1], i8>",
                   {p});
  };
  EXPECT_EQ(choose("bool=1"), "1xi8=1");
  EXPECT_EQ(choose("bool=0"), "1xi8=2");
}

} // namespace
} // namespace tw
