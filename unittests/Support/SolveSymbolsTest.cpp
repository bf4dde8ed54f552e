// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/SolveSymbols.h"
#include <gtest/gtest.h>

using namespace tw;

namespace {

const Size k = Size::symbol("K"), m = Size::symbol("M"), n = Size::symbol("N");

TEST(SolveSymbols, FindsWhatFollowsFromWhatWasFoundBefore) {
  std::set<std::string> known;
  std::vector<Size> sizes = {m * n + k, m * 2 + 1, Size(7), n};
  auto solved = solveSymbols(sizes, known);
  ASSERT_EQ(solved.size(), 3u);
  EXPECT_EQ(solved[0].equation, 1u);
  EXPECT_EQ(solved[0].symbol, "M");
  EXPECT_EQ(solved[0].factor, Size(2));
  EXPECT_EQ(solved[0].offset, Size(1));
  EXPECT_EQ(solved[1].symbol, "N");
  EXPECT_EQ(solved[2].symbol, "K"); // of the first equation, in the second round
  EXPECT_EQ(solved[2].equation, 0u);
  EXPECT_EQ(solved[2].offset, m * n);
  EXPECT_EQ(known, (std::set<std::string>{"K", "M", "N"}));
}

TEST(SolveSymbols, LeavesWhatDoesNotFollow) {
  std::set<std::string> known = {"K"};
  std::vector<Size> sizes = {m * n, k, ceilDiv(m, 2)};
  EXPECT_TRUE(solveSymbols(sizes, known).empty());
  EXPECT_EQ(known, std::set<std::string>{"K"});
}

TEST(SolveSymbols, TakesTheFirstEquationOfASymbol) {
  std::set<std::string> known;
  std::vector<Size> sizes = {m * 3, m};
  auto solved = solveSymbols(sizes, known);
  ASSERT_EQ(solved.size(), 1u);
  EXPECT_EQ(solved[0].equation, 0u);
}

} // namespace
