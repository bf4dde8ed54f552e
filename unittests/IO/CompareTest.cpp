// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Compare.h"
#include "IO/InputSpec.h"
#include <gtest/gtest.h>

using namespace tw;

static HostTensor make(std::string_view text) { return *readInput(*parseInputSpec(text)); }

static Comparison run(std::string_view actual, std::string_view expected,
                      ToleranceChoice choice = {}) {
  auto result = compare(make(actual), make(expected), "y", choice);
  EXPECT_TRUE(result.ok());
  return *result;
}

TEST(Compare, CountsAndPlacesMismatches) {
  Comparison c = run("2x3xf32=1,2.5,3,4,5,7", "2x3xf32=1,2,3,4,5,6");
  EXPECT_EQ(c.mismatches, 2);
  EXPECT_EQ(c.maxAbsolute, 1);
  EXPECT_EQ(c.maxRelative, 0.25);
  EXPECT_EQ(c.firstIndex, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(c.text(), "2 of 6 elements differ; largest error 1 absolute, 0.25 relative; first at "
                      "[0, 1]: 2.5, expected 2");
}

TEST(Compare, TheWorstElementsComeFirst) {
  HostTensor actual = make("2x3xf32=1,2.5,nan,4,9,6"),
             expected = make("2x3xf32=1,2,3,4,5,6.000001");
  auto worst = worstElements(actual, expected, {1e-4, 1e-5}, 10);
  ASSERT_EQ(worst.size(), 3);
  EXPECT_EQ(worst[0].index, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(worst[0].expected, "3");
  EXPECT_EQ(worst[1].index, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(worst[1].actual, "9");
  EXPECT_EQ(worst[2].index, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(worstElements(actual, expected, {1e-4, 1e-5}, 1).size(), 1);
  // Where nothing is allowed, all that differ are as bad: the first ones stay.
  auto exact = worstElements(make("3xi64=1,5,9"), make("3xi64=0,0,0"), {0, 0}, 2);
  ASSERT_EQ(exact.size(), 2);
  EXPECT_EQ(exact[0].index, std::vector<int64_t>{0});
  EXPECT_EQ(exact[1].index, std::vector<int64_t>{1});
}

TEST(Compare, ToleranceIsRelativePlusAbsolute) {
  EXPECT_TRUE(run("f32=1.00005", "f32=1").same());
  EXPECT_FALSE(run("f32=1.001", "f32=1").same());
  EXPECT_TRUE(run("f32=1.001", "f32=1", ToleranceChoice{1e-2, 0}).same());
  EXPECT_FALSE(run("f32=1e-6", "f32=0", ToleranceChoice{1e-2, 0}).same());
  EXPECT_TRUE(run("f32=1e-6", "f32=0", ToleranceChoice{0, 1e-5}).same());
}

TEST(Compare, DefaultToleranceGrowsWithTheLargestValue) {
  EXPECT_FALSE(run("2xf32=1,0.001", "2xf32=1,0").same());
  EXPECT_TRUE(run("2xf32=1000,0.001", "2xf32=1000,0").same());
  EXPECT_FALSE(run("2xf32=1000,0.001", "2xf32=1000,0", ToleranceChoice{{}, 1e-5}).same());
  EXPECT_FALSE(run("2xf32=inf,0.001", "2xf32=inf,0").same());
}

TEST(Compare, NanAndInfinity) {
  EXPECT_TRUE(run("3xf32=nan,inf,-inf", "3xf32=nan,inf,-inf").same());
  EXPECT_EQ(run("4xf32=nan,1,inf,-inf", "4xf32=1,nan,-inf,1").mismatches, 4);
  EXPECT_EQ(run("f32=nan", "f32=1").maxAbsolute, 0);
}

TEST(Compare, IntegersAreExact) {
  EXPECT_FALSE(run("i64=9007199254740993", "i64=9007199254740992").same());
  EXPECT_TRUE(run("i64=9223372036854775807", "i64=9223372036854775807").same());
  EXPECT_EQ(run("i64=-9223372036854775808", "i64=9223372036854775807").mismatches, 1);
  EXPECT_TRUE(run("i64=4", "i64=5", ToleranceChoice{0, 1}).same());
  EXPECT_FALSE(run("bool=1", "bool=0").same());
}

TEST(Compare, TypesMustFit) {
  EXPECT_TRUE(run("f32=1", "f64=1").same());
  EXPECT_TRUE(run("f64=1.000001", "f32=1").same()); // as far as f32 goes
  EXPECT_FALSE(run("f64=1.000001", "f64=1").same());
  EXPECT_EQ(compare(make("2xf32=1"), make("1x2xf32=1"), "y").error().message,
            "y is 2xf32, the expected one is 1x2xf32");
  EXPECT_EQ(compare(make("2xi32=1"), make("2xi64=1"), "y").error().code, Code::CLI_3);
  EXPECT_TRUE(run("0x3xf32=", "0x3xf32=").same());
}
