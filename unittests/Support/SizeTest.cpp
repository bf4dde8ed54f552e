// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Size.h"
#include <gtest/gtest.h>

using namespace tw;

namespace {

std::string normal(std::string_view text) {
  std::string why;
  auto size = Size::parse(text, why);
  return size ? size->str() : "error: " + why;
}

TEST(Size, HasOneNormalForm) {
  const std::pair<const char *, const char *> cases[] = {
      {"0", "0"},
      {"-3", "-3"},
      {"M", "M"},
      {"4 * M", "M * 4"},
      {"N + M", "M + N"},
      {"M - M", "0"},
      {"2 - N", "N * -1 + 2"},
      {"(M + 1) * (M - 1)", "M * M - 1"},
      {"N * M * 2 + M * N", "M * N * 3"},
      {"M ceildiv 8 * 8", "(M ceildiv 8) * 8"},
      {"1 + M ceildiv 8", "M ceildiv 8 + 1"},
      {"(M * 16 + 3) floordiv 16", "M"},
      {"(M * 16 + 17) ceildiv 16", "M + 2"},
      {"(M * 16 + N) floordiv 16", "M + N floordiv 16"},
      {"(M * 16 + N + 1) mod 16", "(N + 1) mod 16"},
      {"M mod 1", "0"},
      {"7 mod (0 - 2)", "-1"},
      {"-7 floordiv 2", "-4"},
      {"-7 ceildiv 2", "-3"},
      {"M floordiv (N + 1)", "M floordiv (N + 1)"},
      {"(M floordiv 2) floordiv 3", "(M floordiv 2) floordiv 3"},
  };
  for (auto [text, expected] : cases) {
    EXPECT_EQ(normal(text), expected) << text;
    EXPECT_EQ(normal(expected), expected);
  }
}

TEST(Size, KnowsWhatIsNotNegative) {
  auto isNonNegative = [](std::string_view text) {
    std::string why;
    return Size::parse(text, why)->isNonNegative();
  };
  for (auto text : {"0", "M", "3 * M * N + 2", "(M + 1) floordiv 4", "M mod 8"})
    EXPECT_TRUE(isNonNegative(text)) << text;
  for (auto text : {"-1", "M - 1", "M - N", "(M - 1) floordiv 4", "M mod (N - 1)"})
    EXPECT_FALSE(isNonNegative(text)) << text;
}

TEST(Size, KnowsWhatMayDivideByZero) {
  auto mayDivideByZero = [](std::string_view text) {
    std::string why;
    return Size::parse(text, why)->mayDivideByZero();
  };
  for (auto text : {"0", "M - N", "(M + 1) floordiv 4", "M * (N mod 8)"})
    EXPECT_FALSE(mayDivideByZero(text)) << text;
  for (auto text : {"M floordiv N", "M + 2 * (8 ceildiv N)", "(M mod N) floordiv 4"})
    EXPECT_TRUE(mayDivideByZero(text)) << text;
}

TEST(Size, SaysWhatIsWrongWithText) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "a number, a symbol or '(' is missing"},
      {"M +", "a number, a symbol or '(' is missing"},
      {"(M", "')' is missing"},
      {"M N", "unexpected \"N\""},
      {"3x", "\"3x\" is no 64-bit integer"},
      {"9223372036854775808", "\"9223372036854775808\" is no 64-bit integer"},
      {"9223372036854775807 * 2", "it overflows, divides by 0 or has too many terms"},
      {"(A + B) * (C + D) * (E + F) * (G + H) * (I + J) * (K + L) * (M + N) * (O + P) * (Q + R)",
       "it overflows, divides by 0 or has too many terms"},
      {"M mod 0", "it overflows, divides by 0 or has too many terms"},
      {"mod * 2", "\"mod\" cannot be the name of a symbol"},
  };
  for (auto [text, expected] : cases)
    EXPECT_EQ(normal(text), std::string("error: ") + expected) << text;
  EXPECT_EQ(normal(std::string(5000, '(')), "error: it is nested too deeply");
}

TEST(Size, CountsTrips) {
  Size n = Size::symbol("N");
  EXPECT_EQ(tripCount(Size(1), n, 4), ceilDiv(n - Size(1), Size(4)));
  EXPECT_EQ(tripCount(Size(0), n * Size(8), 8), n);
  EXPECT_EQ(tripCount(Size(2), Size(9), 3), Size(3));
  EXPECT_EQ(tripCount(Size(9), Size(2), 3), Size(0));
}

TEST(Size, IsEvaluatedWithChecks) {
  std::string why;
  Size size = *Size::parse("(M + 7) floordiv N * 8 - 1", why);
  EXPECT_EQ(size.evaluate({{"M", 10}, {"N", 4}}), 31);
  EXPECT_EQ(size.evaluate({{"M", 10}, {"N", 0}}), std::nullopt);
  EXPECT_EQ(size.evaluate({{"M", 10}}), std::nullopt);
  EXPECT_EQ((Size::symbol("M") * 2).evaluate({{"M", INT64_MAX}}), std::nullopt);
  EXPECT_EQ(size.symbols(), (std::set<std::string>{"M", "N"}));
  EXPECT_EQ(size.substitute({{"N", Size(1)}, {"M", Size::symbol("K") * 2}}).str(), "K * 16 + 55");
}

TEST(Size, IsALineInItsOnlyUnknownSymbol) {
  Size m = Size::symbol("M"), n = Size::symbol("N");
  auto line = (m * n - m * 4 + n * 2 + 1).linear({"N"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->symbol, "M");
  EXPECT_EQ(line->factor, n - 4);
  EXPECT_EQ(line->offset, n * 2 + 1);
  EXPECT_EQ((m * ceilDiv(n, 8)).linear({"N"})->factor, ceilDiv(n, 8));
  EXPECT_FALSE((m + n).linear({}));
  EXPECT_FALSE(ceilDiv(m, 8).linear({}));
  EXPECT_FALSE((n * ceilDiv(m, 8) + m).linear({"N"}));
  EXPECT_FALSE((m * m).linear({}));
  EXPECT_FALSE((m * m + m).linear({}));
  EXPECT_FALSE(m.linear({"M"}));
  EXPECT_FALSE(Size(4).linear({}));
}

} // namespace
