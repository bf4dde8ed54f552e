// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/SizeExpression.h"
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::rt;

static const std::vector<std::string> names = {"s0", "s1"};
using Values = std::vector<std::optional<int64_t>>;

static std::optional<int64_t> value(const char *text, Values values = {7, 3}) {
  auto expression = SizeExpression::parse(text, names);
  EXPECT_TRUE(expression.ok()) << text;
  return expression.ok() ? expression->evaluate(values) : std::nullopt;
}

TEST(SizeExpression, EvaluatesLikePython) {
  EXPECT_EQ(value("42"), 42);
  EXPECT_EQ(value("s0*2 + s1"), 17);
  EXPECT_EQ(value("s0 - s1 - 1"), 3);
  EXPECT_EQ(value("(s0+1)//2"), 4);
  EXPECT_EQ(value("-s0//2"), -4);
  EXPECT_EQ(value("-s0 % 4"), 1);
  EXPECT_EQ(value("s0 % -4"), -1);
  EXPECT_EQ(value("max(s0, min(s1, 100)*9)"), 27);
  EXPECT_EQ(value("2*(3 - -s1)"), 12);
  EXPECT_EQ(value("(-9223372036854775807 - 1) % s1"), 1);
}

TEST(SizeExpression, IsEmptyWhereThereIsNoValue) {
  EXPECT_EQ(value("s0*s1", {7, std::nullopt}), std::nullopt);
  EXPECT_EQ(value("s0//(s1-3)"), std::nullopt);
  EXPECT_EQ(value("s0%0"), std::nullopt);
  EXPECT_EQ(value("9223372036854775807 + s0"), std::nullopt);
  EXPECT_EQ(value("s0 * 9223372036854775807"), std::nullopt);
  EXPECT_EQ(value("(-9223372036854775807 - 1) // (0-1)"), std::nullopt);
}

TEST(SizeExpression, RefusesMalformedText) {
  for (const char *text : {"", "s2", "s0 +", "(s0", "s0)", "max(s0)", "s0 / 2",
                           "99999999999999999999", "s0 s1", "min(1,2,3)", "1.5", "*2"})
    EXPECT_FALSE(SizeExpression::parse(text, names).ok()) << text;
  EXPECT_FALSE(SizeExpression::parse(std::string(100000, '('), names).ok());
  EXPECT_FALSE(SizeExpression::parse(std::string(100000, '-') + "1", names).ok());
  EXPECT_EQ(
      SizeExpression::parse("s0*q", names).error().message,
      "size expression \"s0*q\": at character 4: symbol q is not among the program's symbols");
}

/// The values that solutions of `texts` find when the sizes are `sizes`; `given` are known.
static Values solve(const std::vector<const char *> &texts, const std::vector<int64_t> &sizes,
                    Values values = {std::nullopt, std::nullopt}) {
  std::vector<SizeExpression> expressions;
  for (const char *text : texts)
    expressions.push_back(*SizeExpression::parse(text, names));
  std::vector<InputSize> dimensions; // of one input
  for (const SizeExpression &expression : expressions)
    dimensions.push_back({0, static_cast<int>(dimensions.size()), &expression});
  std::set<int> given;
  for (int i = 0; i < 2; ++i)
    if (values[i])
      given.insert(i);
  for (const SymbolSolution &solution : solveSizes(dimensions, given))
    values[solution.symbol] = (sizes[solution.dimension] - *solution.offset.evaluate(values)) /
                              *solution.factor.evaluate(values);
  return values;
}

TEST(SizeExpression, SymbolsFollowFromStraightLines) {
  EXPECT_EQ(solve({"s0*2 + 1"}, {9}), (Values{4, std::nullopt}));
  EXPECT_EQ(solve({"10 - s0*s1"}, {1}, {std::nullopt, 3}), (Values{3, 3}));
  EXPECT_EQ(solve({"s0*s1 - (s1%2 + -s1//2)", "s1*3"}, {15, 9}), (Values{4, 3}));
  for (const char *text : {"s0%8", "s0*s0", "s0*s1", "max(s0, 4)", "9223372036854775807*4*s0"})
    EXPECT_EQ(solve({text}, {9}), (Values{std::nullopt, std::nullopt})) << text;
}
