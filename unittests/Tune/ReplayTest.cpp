// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Replay.h"
#include "Tune/Priors.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

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

/// Where costs are right, what was measured of other sizes can only be noise.
TEST(Replay, NoPriorWhereTheModelIsRight) {
  std::vector<RecordedKernel> kernels;
  for (int64_t size : {64, 96, 128, 160}) {
    RecordedKernel &made = kernels.emplace_back(blocks());
    made.description.sizes["columns"] = {size, size};
    for (Measurement &each : made.measurements)
      each.cost = each.ratio.median;
  }
  EXPECT_TRUE(Priors(kernels).of(kernels.front()).isEmpty());
  // Here they are not: large blocks are cheap by the model, and slow.
  for (RecordedKernel &kernel : kernels)
    for (Measurement &each : kernel.measurements)
      each.cost = 1.0 / double(each.point.at("rows") * each.point.at("columns"));
  EXPECT_FALSE(Priors(kernels).of(kernels.front()).isEmpty());
  // Nor is there one of another machine, or of the same size.
  RecordedKernel other = kernels.front();
  other.kernel.machine = "another";
  EXPECT_TRUE(Priors(kernels).of(other).isEmpty());
  EXPECT_TRUE(Priors(std::span(kernels).first(1)).of(kernels.front()).isEmpty());
}

/// What an exhaustive search has measured on a Xeon with AMX, one thread, as `bench/spaces.py text`
/// writes it: the knobs that were searched, the start with its cost, and each point with its cost
/// and ratio, 0 for a rejected one.
std::vector<RecordedKernel> readRecorded(const std::string &name) {
  std::ifstream file(TW_RECORDED_SPACES "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::vector<RecordedKernel> kernels;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "kernel") {
      kernels.emplace_back();
      words >> kernels.back().kernel.target >> std::ws;
      std::getline(words, kernels.back().description.dtypes);
      continue;
    }
    RecordedKernel &made = kernels.back();
    Space &space = made.description.space;
    auto readPoint = [&](std::istream &from) {
      Point point;
      for (const Knob &knob : space.knobs)
        from >> point[knob.name];
      return point;
    };
    if (first == "sizes") {
      std::pair<int64_t, int64_t> range;
      for (std::string dimension; words >> dimension >> range.first >> range.second;)
        made.description.sizes[dimension] = range;
    } else if (first == "knob") {
      Knob &knob = space.knobs.emplace_back();
      words >> knob.name;
      for (int64_t value; words >> value;)
        knob.values.push_back(value);
    } else if (first == "start") {
      made.kernel.start = pointText(readPoint(words));
      words >> made.description.startCost.emplace();
    } else {
      std::istringstream values(line);
      Measurement &measurement = made.measurements.emplace_back();
      measurement.point = readPoint(values);
      double ratio = 0;
      values >> measurement.cost.emplace() >> ratio;
      measurement.ratio = {ratio, ratio, ratio};
      measurement.rejection = ratio == 0 ? "wrong" : "";
      ++made.description.enumerated;
    }
  }
  return kernels;
}

constexpr const char *recordedFiles[] = {"attentions.txt", "convolutions.txt", "linears.txt"};
constexpr double share = 0.98; // of the best
constexpr uint64_t seeds = 10;

/// The bar of docs/tuning.md.
TEST(Recorded, SearchNeedsFewOfThePoints) {
  for (const char *file : recordedFiles) {
    size_t searches = 0, fine = 0;
    for (const RecordedKernel &kernel : readRecorded(file)) {
      auto space = RecordedSpace::from(kernel);
      ASSERT_TRUE(space.has_value());
      size_t few = space->points.size() / 20;
      for (uint64_t seed = 0; seed < seeds; ++seed) {
        // From the compiler's choice on, and from anywhere.
        for (const Point &from : {space->start.point, randomOrder(*space, seed).front()}) {
          if (std::isinf(space->ratioOf(from)))
            continue;
          ++searches;
          fine += candidatesUntil(*space, searchOrder(*space, from, few, seed), share).has_value();
        }
      }
    }
    EXPECT_GE(double(fine), 0.9 * double(searches)) << file << ": " << fine << " of " << searches;
  }
}

struct Ended {
  double candidates = 0, lost = 0; // on the average; of the logarithm of the best one's speed
};

/// Searches of all recorded spaces that end by themselves, with intervals so much wide to each
/// side.
Ended endSearches(double noise) {
  Ended sum;
  double searches = 0;
  for (const char *file : recordedFiles)
    for (const RecordedKernel &kernel : readRecorded(file)) {
      auto space = RecordedSpace::from(kernel);
      for (uint64_t seed = 0; seed < 3; ++seed, ++searches) {
        KernelSearch search(space->description.space, space->start, space->points, seed);
        for (; auto point = search.next(); ++sum.candidates)
          if (double ratio = space->ratioOf(*point); std::isinf(ratio))
            search.reject(*point);
          else
            search.record(*point, {ratio, ratio * (1 - noise), ratio * (1 + noise)});
        sum.lost += std::log((search.best() ? search.best()->ratio.median : 1) / space->best);
      }
    }
  return {sum.candidates / searches, sum.lost / searches};
}

/// Where times vary by a few percent, searches end sooner, and lose less than that.
TEST(Recorded, WhatEndsEarlyLosesLittle) {
  Ended patient = endSearches(0), early = endSearches(0.02);
  EXPECT_LT(early.candidates, 0.7 * patient.candidates);
  EXPECT_LT(early.lost, 0.005);
  EXPECT_LE(patient.lost, early.lost);
}

/// Sizes of which nothing was measured, by what was measured of the others.
TEST(Recorded, CorrectionHoldsForOtherSizes) {
  double sumOfModel = 0, sumOfCorrected = 0;
  for (const char *file : recordedFiles) {
    double random = 0, model = 0, corrected = 0; // logarithms of candidates
    std::vector<RecordedKernel> kernels = readRecorded(file);
    Priors known(kernels);
    for (const RecordedKernel &kernel : kernels) {
      auto space = RecordedSpace::from(kernel);
      ASSERT_TRUE(space.has_value());
      CorrectionPrior prior = known.of(kernel);
      auto candidates = [&](const std::vector<Point> &order) {
        return std::log(double(candidatesUntil(*space, order, share).value()));
      };
      for (uint64_t seed = 0; seed < seeds; ++seed)
        random += candidates(randomOrder(*space, seed)) / double(seeds);
      model += candidates(modelOrder(*space));
      corrected += candidates(correctedOrder(*space, prior));
    }
    // Where it would be no good, it is left out.
    EXPECT_LE(corrected, model) << file;
    EXPECT_LT(model, random) << file;
    sumOfModel += model;
    sumOfCorrected += corrected;
  }
  EXPECT_LT(sumOfCorrected, sumOfModel);
}

} // namespace
} // namespace tw::tune
