// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/Checked.h"
#include <gtest/gtest.h>

using namespace tw;

TEST(Checked, DividesLikePython) {
  struct {
    int64_t a, b, quotient, rest;
  } rows[] = {{7, 3, 2, 1},   {-7, 3, -3, 2}, {7, -3, -3, -2}, {-7, -3, 2, -1},
              {6, -3, -2, 0}, {0, 5, 0, 0},   {-1, 1, -1, 0},  {INT64_MIN, 1, INT64_MIN, 0}};
  for (auto [a, b, quotient, rest] : rows) {
    EXPECT_EQ(checkedFloorDiv(a, b), quotient) << a << " // " << b;
    EXPECT_EQ(checkedMod(a, b), rest) << a << " % " << b;
  }
  EXPECT_EQ(checkedMod(INT64_MIN, 3), 1); // though 3 * (INT64_MIN // 3) is no int64_t
}

TEST(Checked, IsEmptyWhereThereIsNoQuotient) {
  EXPECT_EQ(checkedFloorDiv(5, 0), std::nullopt);
  EXPECT_EQ(checkedFloorDiv(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checkedMod(5, 0), std::nullopt);
  EXPECT_EQ(checkedMod(INT64_MIN, -1), 0);
}
