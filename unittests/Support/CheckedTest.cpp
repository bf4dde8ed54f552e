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

TEST(Checked, CountsTrips) {
  struct {
    int64_t begin, end, step;
    uint64_t trips;
  } rows[] = {{0, 10, 1, 10},
              {0, 10, 3, 4},
              {0, 9, 3, 3},
              {2, 3, 100, 1},
              {5, 5, 1, 0},
              {6, 5, 1, 0},
              {0, 10, 0, 0},
              {10, 0, -3, 4},
              {0, 10, -1, 0},
              {INT64_MIN, INT64_MAX, 1, UINT64_MAX},
              {INT64_MAX, INT64_MIN, INT64_MIN, 2}};
  for (auto [begin, end, step, trips] : rows)
    EXPECT_EQ(tripCount(begin, end, step), trips) << begin << " to " << end << " step " << step;
}

TEST(Checked, IsEmptyWhereThereIsNoQuotient) {
  EXPECT_EQ(checkedFloorDiv(5, 0), std::nullopt);
  EXPECT_EQ(checkedFloorDiv(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checkedMod(5, 0), std::nullopt);
  EXPECT_EQ(checkedMod(INT64_MIN, -1), 0);
}
