// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Replay.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace tw::tune {
namespace {

/// 12 x 12 blocks with a smooth optimum at rows 6, columns 32; the model thinks that larger is
/// cheaper.
RecordedKernel blocks() {
  RecordedKernel made;
  made.kernel.start = "columns=8 rows=2";
  Space &space = made.description.space;
  space.knobs = {{"rows", valuesBetween(1, 12), ""}, {"columns", {}, ""}};
  for (int64_t columns = 8; columns <= 96; columns += 8)
    space.knobs[1].values.push_back(columns);
  auto timeOf = [](const Point &point) {
    double rows = std::log2(double(point.at("rows")) / 6),
           columns = std::log2(double(point.at("columns")) / 32);
    return 1 + rows * rows + 0.5 * columns * columns;
  };
  Point start = parsePoint(made.kernel.start);
  forEachLegalPoint(space, 1'000, [&](const Point &point) {
    double ratio = timeOf(point) / timeOf(start);
    double cost = 1.0 / double(point.at("rows") * point.at("columns"));
    if (point != start)
      made.measurements.push_back({point, cost, "", {ratio, ratio, ratio}, 7, 100, 0});
    else
      made.description.startCost = cost;
    return true;
  });
  made.description.enumerated = int64_t(made.measurements.size());
  return made;
}

TEST(Replay, OnlyOfCompleteSpaces) {
  RecordedKernel kernel = blocks();
  auto space = RecordedSpace::from(kernel);
  ASSERT_TRUE(space.has_value());
  EXPECT_EQ(space->points.size(), 144u);
  EXPECT_EQ(space->ratioOf(parsePoint("columns=8 rows=2")), 1);
  EXPECT_DOUBLE_EQ(space->ratioOf(parsePoint("columns=32 rows=6")), space->best);
  EXPECT_EQ(space->points.front().point, parsePoint("columns=96 rows=12"));
  kernel.measurements.pop_back();
  EXPECT_FALSE(RecordedSpace::from(kernel).has_value());
  kernel.description.enumerated = 0;
  EXPECT_FALSE(RecordedSpace::from(kernel).has_value());
}

TEST(Replay, WhatWasMeasuredAgainOrRejectedCounts) {
  RecordedKernel kernel = blocks();
  Point best = parsePoint("columns=32 rows=6"), wrong = parsePoint("columns=40 rows=6");
  kernel.measurements.push_back({best, {}, "", {0.9, 0.9, 0.9}, 21, 100, 0});
  kernel.measurements.push_back({wrong, {}, "results differ", {}, 0, 0, 0});
  auto space = RecordedSpace::from(kernel);
  ASSERT_TRUE(space.has_value());
  EXPECT_EQ(space->ratioOf(best), 0.9);
  EXPECT_TRUE(std::isinf(space->ratioOf(wrong)));
  EXPECT_LT(space->best, 0.9); // another one near it
}

TEST(Replay, CountsCandidates) {
  auto space = RecordedSpace::from(blocks());
  ASSERT_TRUE(space.has_value());
  std::vector<Point> order = {parsePoint("columns=8 rows=2"), parsePoint("columns=32 rows=4"),
                              parsePoint("columns=32 rows=6")};
  EXPECT_EQ(candidatesUntil(*space, order, 0.98), 3u);
  EXPECT_EQ(candidatesUntil(*space, order, 0.7), 2u);
  order.pop_back();
  EXPECT_EQ(candidatesUntil(*space, order, 0.98), std::nullopt);
}

TEST(Replay, OrdersTakeEachPointOnce) {
  auto space = RecordedSpace::from(blocks());
  ASSERT_TRUE(space.has_value());
  for (auto order : {modelOrder(*space), randomOrder(*space, 1),
                     searchOrder(*space, space->start.point, 1'000, 1)}) {
    std::vector<Point> sorted = order;
    std::ranges::sort(sorted);
    EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
    EXPECT_LE(order.size(), space->points.size());
  }
  EXPECT_EQ(randomOrder(*space, 1), randomOrder(*space, 1));
  EXPECT_NE(randomOrder(*space, 1), randomOrder(*space, 2));
  EXPECT_EQ(searchOrder(*space, space->start.point, 20, 3),
            searchOrder(*space, space->start.point, 20, 3));
}

} // namespace
} // namespace tw::tune
