// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Search.h"
#include "Tune/CostCorrection.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace tw::tune {
namespace {

TEST(Comparison, IntervalEnclosesTheMedian) {
  std::vector<double> incumbent(21, 100), candidate(21, 90);
  candidate[3] = 500; // somebody else was at work
  TimeRatio ratio = compareTimes(candidate, incumbent);
  EXPECT_DOUBLE_EQ(ratio.median, 0.9);
  EXPECT_DOUBLE_EQ(ratio.high, 0.9);
  EXPECT_TRUE(ratio.isFaster());
  EXPECT_FALSE(compareTimes(incumbent, incumbent).isFaster());
}

TEST(Comparison, FewPairsSayLittle) {
  std::vector<double> incumbent = {100, 100, 100}, candidate = {80, 90, 130};
  TimeRatio ratio = compareTimes(candidate, incumbent);
  EXPECT_DOUBLE_EQ(ratio.low, 0.8);
  EXPECT_DOUBLE_EQ(ratio.high, 1.3);
  EXPECT_FALSE(compareTimes({}, {}).isFaster());
}

/// Ranks of the sign test (Conover, table A3): of 11 values the 2nd, of 20 the 6th.
TEST(Comparison, RanksAreThoseOfTheSignTest) {
  auto lowOf = [](int n) {
    std::vector<double> times, ones(size_t(n), 1);
    for (int i = 1; i <= n; ++i)
      times.push_back(i);
    return compareTimes(times, ones).low;
  };
  EXPECT_EQ(lowOf(11), 2);
  EXPECT_EQ(lowOf(20), 6);
  EXPECT_EQ(lowOf(6), 1);
}

/// A space with a smooth optimum at rows 6, columns 32, which the cost model puts elsewhere.
Space blocks() {
  return {{{"rows", valuesBetween(1, 16), ""}, {"columns", valuesBetween(1, 64), ""}},
          {{"rows * columns", "256"}}};
}
double timeOf(const Point &point) {
  double rows = std::log2(double(point.at("rows")) / 6),
         columns = std::log2(double(point.at("columns")) / 32);
  return 1 + rows * rows + 0.5 * columns * columns;
}
double costOf(const Point &point) {
  return 1 + 1.0 / double(point.at("rows") * point.at("columns"));
}

std::vector<Candidate> pool(const Space &space) {
  std::vector<Candidate> all;
  for (int64_t rows : space.knobs[0].values)
    for (int64_t columns : space.knobs[1].values)
      if (Point point = {{"rows", rows}, {"columns", columns}}; space.contains(point))
        all.push_back({point, costOf(point)});
  std::ranges::stable_sort(all, {}, [](const Candidate &c) { return *c.cost; });
  return all;
}

TEST(Search, FindsTheBestOfASmoothSpaceWithFewMeasurements) {
  Space space = blocks();
  std::vector<Candidate> all = pool(space);
  Point start = {{"rows", 1}, {"columns", 8}};
  for (uint64_t seed = 0; seed < 5; ++seed) {
    KernelSearch search(space, {start, costOf(start)}, all, seed);
    std::set<Point> asked;
    for (int i = 0; i < 40; ++i) {
      auto point = search.next();
      if (!point)
        break;
      EXPECT_TRUE(space.contains(*point));
      EXPECT_TRUE(asked.insert(*point).second);
      double ratio = timeOf(*point) / timeOf(start);
      search.record(*point, {ratio, ratio, ratio});
    }
    ASSERT_NE(search.best(), nullptr);
    // The best there is takes 1; the start more than 8.
    EXPECT_LT(timeOf(search.best()->point), 1.1) << seed;
  }
}

TEST(Search, WhatTheCompilerChoosesComesFirstUnlessItIsKnown) {
  Space space = blocks();
  Point start = {{"rows", 1}, {"columns", 8}}, chosen = {{"rows", 6}, {"columns", 28}};
  KernelSearch search(space, {start, costOf(start)}, pool(space), 0);
  search.tryFirst(chosen);
  EXPECT_EQ(search.next(), chosen);
  EXPECT_NE(search.next(), chosen);
  KernelSearch other(space, {start, costOf(start)}, pool(space), 0);
  other.tryFirst(start);
  EXPECT_NE(other.next(), start);
}

TEST(Search, EndsWhereNothingGetsFaster) {
  Space space = blocks();
  Point start = {{"rows", 6}, {"columns", 32}};
  KernelSearch search(space, {start, costOf(start)}, pool(space), 0);
  size_t count = 0;
  while (auto point = search.next()) {
    search.record(*point, {1.5, 1.5, 1.5});
    ++count;
  }
  EXPECT_EQ(count, KernelSearch::patience);
  EXPECT_EQ(search.best(), nullptr);
  EXPECT_TRUE(search.finalists(3).empty());
}

/// Where costs are right, what is left to gain is soon less than what can be measured.
TEST(Search, EndsWhereTheExpectedGainIsBelowTheNoise) {
  Space space = blocks();
  std::vector<Candidate> all = pool(space);
  for (Candidate &each : all)
    each.cost = timeOf(each.point);
  std::ranges::stable_sort(all, {}, [](const Candidate &c) { return *c.cost; });
  Point start = {{"rows", 1}, {"columns", 8}};
  auto countWith = [&](double noise) {
    KernelSearch search(space, {start, timeOf(start)}, all, 0);
    size_t count = 0;
    for (; auto point = search.next(); ++count) {
      double ratio = timeOf(*point) / timeOf(start);
      search.record(*point, {ratio, ratio * (1 - noise), ratio * (1 + noise)});
    }
    EXPECT_EQ(timeOf(search.best()->point), timeOf(all.front().point));
    return count;
  };
  EXPECT_LE(countWith(0.02), KernelSearch::leastPatience + 2);
  EXPECT_GE(countWith(0), KernelSearch::patience);
}

TEST(Search, ContendersAreThoseWhoseIntervalsOverlapWithTheFastest) {
  Space space = blocks();
  Point start = {{"rows", 1}, {"columns", 8}};
  KernelSearch search(space, {start, {}}, pool(space), 0);
  auto points = [&](size_t most) {
    std::vector<int64_t> rows;
    for (const auto &each : search.contenders(most))
      rows.push_back(each.point.at("rows"));
    return rows;
  };
  EXPECT_TRUE(points(4).empty());
  search.record({{"rows", 2}, {"columns", 8}}, {0.70, 0.68, 0.75});
  search.record({{"rows", 3}, {"columns", 8}}, {0.60, 0.55, 0.65});
  search.record({{"rows", 4}, {"columns", 8}}, {0.66, 0.64, 0.69});
  search.record({{"rows", 5}, {"columns", 8}}, {1.10, 0.50, 1.20}); // no faster than the start
  EXPECT_EQ(points(4), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(points(1), (std::vector<int64_t>{3}));
  // Measured again, it was a lucky one.
  search.record({{"rows", 3}, {"columns", 8}}, {0.70, 0.69, 0.71});
  EXPECT_EQ(points(4), (std::vector<int64_t>{4, 2, 3}));
}

TEST(Search, RejectedPointsAreNeverKept) {
  Space space = blocks();
  Point start = {{"rows", 1}, {"columns", 8}}, wrong = {{"rows", 6}, {"columns", 32}};
  KernelSearch search(space, {start, {}}, pool(space), 0);
  search.record(wrong, {0.1, 0.1, 0.1});
  ASSERT_NE(search.best(), nullptr);
  search.reject(wrong);
  EXPECT_EQ(search.best(), nullptr);
  while (auto point = search.next()) {
    EXPECT_NE(*point, wrong);
    search.record(*point, {1.5, 1.4, 1.6});
  }
}

TEST(Search, ExhaustiveAsksForEachPointOnce) {
  Space space = blocks();
  std::vector<Candidate> all = pool(space);
  Point start = {{"rows", 6}, {"columns", 32}};
  KernelSearch search(space, {start, costOf(start)}, all, 0, SearchMode::Exhaustive);
  search.record(all[3].point, {1.2, 1.1, 1.3}); // by a search before this one
  std::vector<Point> asked;
  while (auto point = search.next()) {
    asked.push_back(*point);
    if (asked.size() % 7 == 0)
      search.reject(*point);
    else
      search.record(*point, {1.5, 1.4, 1.6});
  }
  std::vector<Point> expected; // in the order of the model
  for (const Candidate &each : all)
    if (each.point != start && each.point != all[3].point)
      expected.push_back(each.point);
  EXPECT_EQ(asked, expected);
  EXPECT_EQ(search.untriedCount(), 0u);
  EXPECT_EQ(search.measuredCount() + search.rejectedCount(), all.size() - 1);
}

TEST(Search, WhatWasMeasuredAgainIsBelieved) {
  Space space = blocks();
  Point start = {{"rows", 1}, {"columns", 8}}, lucky = {{"rows", 2}, {"columns", 8}},
        good = {{"rows", 4}, {"columns", 8}}, other = {{"rows", 3}, {"columns", 8}};
  KernelSearch search(space, {start, {}}, pool(space), 0);
  search.record(lucky, {0.5, 0.4, 1.1});
  ASSERT_NE(search.bestConfirmed(), nullptr); // nothing was measured again yet
  EXPECT_EQ(search.bestConfirmed()->point, lucky);
  search.record(good, {0.6, 0.5, 0.7});
  search.record(other, {0.55, 0.5, 0.7});
  search.record(lucky, {0.9, 0.8, 0.95});
  search.record(good, {0.62, 0.6, 0.65});
  EXPECT_EQ(search.best()->point, other);
  EXPECT_EQ(search.bestConfirmed()->point, good);
}

TEST(CostCorrection, LearnsWhatTheModelMisses) {
  Space space = blocks();
  Candidate start{{{"rows", 1}, {"columns", 8}}, 1.0};
  CostCorrection correction(space, start);
  EXPECT_DOUBLE_EQ(correction.expectedRatio(start.point, 2.0), 2.0);
  std::vector<Candidate> all = pool(space);
  for (size_t i = 0; i < all.size(); i += 3)
    correction.learn(all[i].point, 1.0, timeOf(all[i].point) / timeOf(start.point));
  correction.fit();
  double before = 0, after = 0;
  for (size_t i = 1; i < all.size(); i += 3) {
    double truth = std::log(timeOf(all[i].point) / timeOf(start.point));
    after += std::abs(std::log(correction.expectedRatio(all[i].point, 1.0)) - truth);
    before += std::abs(truth);
  }
  EXPECT_LT(after, before / 3);
}

} // namespace
} // namespace tw::tune
