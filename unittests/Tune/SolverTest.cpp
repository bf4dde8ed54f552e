// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The solver against brute force.
#include "Tune/Solver.h"
#include "Tune/SmtLib.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace tw::tune {
namespace {

/// Calls `take` with every combination of values.
template <typename F>
void forEachPoint(const Space &space, F take) {
  std::vector<size_t> at(space.knobs.size());
  while (true) {
    Point point;
    for (size_t knob = 0; knob < at.size(); ++knob)
      point[space.knobs[knob].name] = space.knobs[knob].values[at[knob]];
    take(point);
    size_t knob = 0;
    while (knob < at.size() && ++at[knob] == space.knobs[knob].values.size())
      at[knob++] = 0;
    if (knob == at.size())
      return;
  }
}

std::set<Point> legalByBruteForce(const Space &space) {
  std::set<Point> legal;
  forEachPoint(space, [&](const Point &point) {
    if (space.contains(point))
      legal.insert(point);
  });
  return legal;
}

/// Everything that Size has: products, all divisions, subtraction, a divisor that may be 0.
Space everything() {
  return {{{"rows", {1, 2, 3, 5, 8, 14}, ""},
           {"columns", {0, 1, 16, 24, 32, 48}, ""},
           {"packed", {0, 1}, ""},
           {"k_block", {0, 7, 64, 96}, ""},
           {"programs", {1, 2, 4}, ""}},
          {{"(rows * (columns ceildiv 16) + 1) * (1 - packed)", "20", "registers"},
           {"packed * (96 mod columns)", "0", "panels come out even"},
           {"k_block floordiv 8", "rows", "a loop is no longer"},
           {"4 - programs", "3 * packed + 2"}}};
}

TEST(Solver, AgreesWithBruteForce) {
  for (const Space &space : {everything(), Space{{{"a", {1, 2, 3}, ""}}, {{"a", "2"}}},
                             Space{{{"a", {1, 2}, ""}, {"b", {1, 2}, ""}}, {{"3", "a * b"}}},
                             Space{{{"a", {1, 2}, ""}}, {{"1", "0", "nothing is legal"}}}}) {
    std::set<Point> legal = legalByBruteForce(space);
    Solver::Points all = Solver(space).enumerate(10'000);
    EXPECT_TRUE(all.areAll);
    EXPECT_EQ(std::set(all.points.begin(), all.points.end()), legal);
    EXPECT_EQ(all.points.size(), legal.size());
    std::set<Point> enumerated;
    EXPECT_TRUE(forEachLegalPoint(
        space, 10'000, [&](const Point &point) { return enumerated.insert(point).second; }));
    EXPECT_EQ(enumerated, legal);
    LegalCount count = Solver::count(space, 10'000);
    EXPECT_TRUE(count.isExact);
    EXPECT_EQ(count.number, double(legal.size()));
    // What a compiler without a solver counts.
    LegalCount counted = countLegalPoints(space, 10'000, 1'000'000);
    EXPECT_TRUE(counted.isExact);
    EXPECT_EQ(counted.number, count.number);
    if (!legal.empty())
      EXPECT_FALSE(countLegalPoints(space, 10'000, 1).isExact);
  }
}

/// Constraints drawn at random from products and divisions of the knobs.
TEST(Solver, AgreesWithBruteForceOnRandomSpaces) {
  std::mt19937 random(7);
  auto pick = [&](std::initializer_list<const char *> texts) {
    return std::string(*(texts.begin() + random() % texts.size()));
  };
  for (int turn = 0; turn < 40; ++turn) {
    Space space{{{"a", {0, 1, 2, 5}, ""}, {"b", {1, 3, 4}, ""}, {"c", {0, 1, 6, 7}, ""}}, {}};
    auto side = [&] {
      return pick({"a", "b", "c"}) +
             pick({" * ", " + ", " - ", " floordiv ", " ceildiv ", " mod "}) +
             pick({"a", "b", "c", "2", "3"});
    };
    for (int i = 0; i < 3; ++i)
      space.constraints.emplace_back(side(), side());
    Solver::Points all = Solver(space).enumerate(1000);
    EXPECT_TRUE(all.areAll);
    EXPECT_EQ(std::set(all.points.begin(), all.points.end()), legalByBruteForce(space))
        << smtLib(space);
  }
}

TEST(Solver, StopsWhereItIsToldTo) {
  Solver::Points some = Solver(everything()).enumerate(5);
  EXPECT_EQ(some.points.size(), 5u);
  EXPECT_FALSE(some.areAll);
  EXPECT_FALSE(Solver::count(everything(), 5).isExact);
}

TEST(Solver, SamplesAreLegalDifferentAndSpread) {
  Space space = everything();
  std::vector<Point> samples = Solver(space).sample(40, 1);
  ASSERT_EQ(samples.size(), 40u);
  EXPECT_EQ(std::set(samples.begin(), samples.end()).size(), 40u);
  std::set<Point> legal = legalByBruteForce(space);
  for (const Knob &knob : space.knobs) {
    std::set<int64_t> drawn, possible;
    for (const Point &sample : samples) {
      EXPECT_TRUE(space.contains(sample));
      drawn.insert(sample.at(knob.name));
    }
    for (const Point &point : legal)
      possible.insert(point.at(knob.name));
    EXPECT_EQ(drawn, possible) << knob.name;
  }
  EXPECT_EQ(Solver(space).sample(40, 1), samples);
  EXPECT_NE(Solver(space).sample(40, 2), samples);
  EXPECT_EQ(Solver(space).sample(10'000, 1).size(), legal.size());
}

TEST(Solver, SaysWhichConstraintDoesNotHold) {
  Solver solver(everything());
  Point legal = {{"rows", 3}, {"columns", 48}, {"packed", 1}, {"k_block", 0}, {"programs", 1}};
  EXPECT_EQ(solver.whyIllegal(legal), "");
  Point tooMany = legal;
  tooMany["packed"] = 0, tooMany["rows"] = 8, tooMany["programs"] = 4;
  EXPECT_EQ(solver.whyIllegal(tooMany),
            "(rows * (columns ceildiv 16) + 1) * (1 - packed) = 25 must not be more than 20: "
            "registers");
  Point unknown = legal;
  unknown["rows"] = 4;
  EXPECT_EQ(solver.whyIllegal(unknown), "rows = 4 is none of the values that are tried");
  unknown.erase("rows");
  EXPECT_EQ(solver.whyIllegal(unknown), "rows has no value");
  forEachPoint(everything(), [&](const Point &point) {
    EXPECT_EQ(solver.whyIllegal(point).empty(), everything().contains(point));
  });
}

TEST(SmtLib, IsWhatAnySolverReads) {
  EXPECT_EQ(smtLib({{{"rows", {1, 2}, ""}, {"k", {0, 64}, ""}}, {{"rows ceildiv k", "3", "why"}}}),
            "(declare-const rows Int)\n"
            "(assert (! (or (= rows 1) (= rows 2)) :named values_rows))\n"
            "(declare-const k Int)\n"
            "(assert (! (or (= k 0) (= k 64)) :named values_k))\n"
            "; rows ceildiv k <= 3: why\n"
            "(assert (! (and (> (+ 0 (* 1 k)) 0) (<= (+ 0 (* 1 (- (div (- (+ 0 (* 1 rows))) (+ 0 "
            "(* 1 k)))))) "
            "(+ 0 3))) :named c0))\n");
}

} // namespace
} // namespace tw::tune
