// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter cuts loops that can be split.
#include "RunKernel.h"
#include <gtest/gtest.h>

namespace tw {
namespace {

/// y = the loop over x with the given init, step of the body and combine of %l and %r.
std::string run(const std::string &init, const std::string &body, const std::string &combine,
                const std::string &x, const std::string &word = "") {
  return runKernel("tile.kernel @k(in %x: !tile.buffer<[N], f32>, out %y: !tile.buffer<[1], f32>) "
                   "symbols [N] grid [1] {\n"
                   "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %n = tile.size N "
                   "%init = arith.constant " +
                       init +
                       " : f32 %half = arith.constant 0.5 : f32\n"
                       "%r = tile.for %i = %c0 to %n step %c1 carry (%a = %init : f32) {\n"
                       "  %v = tile.load %x[%i] : !tile.buffer<[N], f32> -> tensor<1xf32>\n"
                       "  %e = tile.extract %v : tensor<1xf32> -> f32\n" +
                       body +
                       "\n"
                       "  tile.yield %z : f32\n"
                       "} combine " +
                       word + " (%l: f32, %r: f32) {\n" + combine +
                       "\n  tile.yield %z : f32\n}\n"
                       "%t = tile.full %r : f32 -> tensor<1xf32>\n"
                       "tile.store %t, %y[%c0] : tensor<1xf32>, !tile.buffer<[1], f32>\n}",
                   {x});
}

const char *add = "%z = arith.addf %a, %e : f32", *merge = "%z = arith.addf %l, %r : f32";

TEST(Combine, SumsCanBeCut) {
  EXPECT_EQ(run("0.0", add, merge, "4xf32=1,2,3,4"), "1xf32=10");
  EXPECT_EQ(run("0.0", add, merge, "100xf32=1"), "1xf32=100");
}

TEST(Combine, InitsMustBeNeutral) {
  EXPECT_EQ(
      run("1.0", add, merge, "4xf32=1,2,3,4"),
      "1xf32=11\n110 the combine depends on where the loop is cut: 4 trips give 11, but parts "
      "of 0, 0 and 4 trips give 13 @3 [0]");
}

TEST(Combine, MustBeAssociative) {
  // The last element wins: parts must be combined in order, and an empty one has no last.
  EXPECT_EQ(run("0.0", "%z = arith.select %cond, %e, %a : f32", "", "1xf32=1").substr(0, 5),
            "error");
  EXPECT_EQ(run("0.0", "%h = arith.mulf %a, %half : f32 %z = arith.addf %h, %e : f32", merge,
                "3xf32=1,2,4"),
            "1xf32=5.25\n110 the combine depends on where the loop is cut: 3 trips give 5.25, but "
            "parts of 0, 1 and 2 trips give 6 @3 [0]");
  EXPECT_EQ(run("0.0", "%z = arith.maximumf %a, %e : f32", "%z = arith.maximumf %r, %l : f32",
                "3xf32=1,nan,4"),
            "1xf32=nan");
}

TEST(Combine, OrderMattersWhereItIsCalledCommutative) {
  EXPECT_EQ(run("0.0", add, merge, "4xf32=1,2,3,4", "commutative"), "1xf32=10");
  // The last element that is not zero: associative, but not commutative.
  const char *last = "%q = arith.cmpf une, %e, %init : f32 %z = arith.select %q, %e, %a : f32",
             *later = "%zero = arith.constant 0.0 : f32 %q = arith.cmpf une, %r, %zero : f32 "
                      "%z = arith.select %q, %r, %l : f32";
  EXPECT_EQ(run("0.0", last, later, "3xf32=1,2,0"), "1xf32=2");
  EXPECT_EQ(run("0.0", last, later, "3xf32=1,2,0", "commutative"),
            "1xf32=2\n110 the combine depends on where the loop is cut: 3 trips give 2, but in "
            "another order, parts of 0, 1 and 2 trips give 1 @3 [0]");
}

TEST(Combine, ShortLoopsAreNoted) {
  EXPECT_EQ(run("0.0", add, merge, "2xf32=1,2"),
            "1xf32=3\nk:3:6: combine was hardly tried: the loop made 2 trips at most, and 3 are "
            "needed to see whether it is associative");
}

} // namespace
} // namespace tw
