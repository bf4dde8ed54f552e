// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Space.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace tw::tune {
namespace {

/// A block of rows times columns that fits 12 registers, and a knob of its own.
Space blocks() {
  return {{{"rows", {1, 2, 3, 4, 6}, ""}, {"columns", {1, 2, 4}, ""}, {"programs", {1, 2}, ""}},
          {{"rows * columns", "12"}, {"rows mod columns", "0"}, {"programs", "1"}}};
}

TEST(Space, ContainsWhatIsAmongTheValuesAndHolds) {
  EXPECT_TRUE(blocks().contains({{"rows", 4}, {"columns", 2}, {"programs", 1}}));
  EXPECT_FALSE(blocks().contains({{"rows", 5}, {"columns", 1}, {"programs", 1}}));
  EXPECT_FALSE(blocks().contains({{"rows", 3}, {"columns", 2}, {"programs", 1}}));
  EXPECT_FALSE(blocks().contains({{"rows", 4}, {"columns", 2}}));
}

TEST(Space, ValuesAreFewAndHaveBothEnds) {
  EXPECT_EQ(valuesBetween(0, 1), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(valuesBetween(1, 3), (std::vector<int64_t>{1, 2, 3}));
  for (int64_t most : {17, 100, 768, 1'000'000}) {
    std::vector<int64_t> values = valuesBetween(1, most);
    EXPECT_TRUE(std::ranges::is_sorted(values));
    EXPECT_EQ(values.front(), 1);
    EXPECT_EQ(values.back(), most);
    EXPECT_TRUE(std::ranges::binary_search(values, (most + 1) / 2)) << most;
    EXPECT_LT(values.size(), 100u) << most;
  }
}

TEST(Space, PartsAreWhatNoConstraintConnects) {
  std::vector<Space> parts = independentParts(blocks());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].knobs.size(), 2u);
  EXPECT_EQ(parts[0].constraints.size(), 2u);
  ASSERT_EQ(parts[1].knobs.size(), 1u);
  EXPECT_EQ(parts[1].knobs[0].values, std::vector<int64_t>{1}); // by the constraint over it alone
  EXPECT_TRUE(parts[1].constraints.empty());
}

/// In whatever order constraints make the chain b = d, a = b, c = d, e alone is apart.
TEST(Space, PartsHaveAllKnobsOfTheirConstraints) {
  const std::vector<int64_t> values = {1, 2};
  std::vector<std::pair<std::string, std::string>> chain = {{"a", "b"}, {"b", "d"}, {"c", "d"}};
  do {
    Space space{{{"a", values, ""},
                 {"b", values, ""},
                 {"c", values, ""},
                 {"d", values, ""},
                 {"e", values, ""}},
                {}};
    for (auto &[one, other] : chain)
      space.constraints.emplace_back(other + " + " + one, "3");
    std::vector<Space> parts = independentParts(space);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].knobs.size(), 4u);
    EXPECT_EQ(parts[0].constraints.size(), 3u);
    EXPECT_EQ(parts[1].knobs.size(), 1u);
    EXPECT_EQ(countLegalPoints(space, 1'000, 1'000).number, 16);
  } while (std::ranges::next_permutation(chain).found);
}

TEST(Space, AllPointsAreEnumeratedOnce) {
  Space space = blocks();
  std::map<Point, int> found;
  auto take = [&](const Point &point) { return ++found[point], true; };
  EXPECT_TRUE(forEachLegalPoint(space, 1'000, take));
  size_t legal = 0;
  for (int64_t rows : space.knobs[0].values)
    for (int64_t columns : space.knobs[1].values)
      for (int64_t programs : space.knobs[2].values)
        if (Point point = {{"rows", rows}, {"columns", columns}, {"programs", programs}};
            space.contains(point)) {
          ++legal;
          EXPECT_EQ(found[point], 1);
        }
  EXPECT_EQ(found.size(), legal);
  // Where there is more than is looked at, it says so; and whoever asked can have enough.
  EXPECT_FALSE(forEachLegalPoint(space, 5, take));
  found.clear();
  EXPECT_FALSE(
      forEachLegalPoint(space, 1'000, [&](const Point &point) { return ++found[point], false; }));
  EXPECT_EQ(found.size(), 1u);
  // A constraint over no knob at all is looked at, too.
  space.constraints.emplace_back("1", "0");
  EXPECT_TRUE(forEachLegalPoint(space, 1'000, [](const Point &) { return ADD_FAILURE(), true; }));
}

TEST(Space, DrawnPointsAreLegalAndDifferent) {
  Space space = blocks();
  std::mt19937_64 random(3), again(3);
  std::vector<Point> drawn = drawPoints(space, 1'000, random);
  EXPECT_EQ(drawn, drawPoints(space, 1'000, again));
  for (const Point &point : drawn)
    EXPECT_TRUE(space.contains(point));
  EXPECT_EQ(std::set(drawn.begin(), drawn.end()).size(), drawn.size());
  EXPECT_EQ(double(drawn.size()), countLegalPoints(space, 1'000, 1'000).number); // they are few
  EXPECT_EQ(drawPoints(space, 2, random).size(), 2u);
}

TEST(Space, NeighborsAreLegalNewAndNear) {
  Space space = blocks();
  Point point = {{"rows", 4}, {"columns", 2}, {"programs", 1}};
  for (int knobs : {1, 2}) {
    std::map<Point, int> found;
    for (const Point &neighbor : neighbors(space, point, knobs)) {
      EXPECT_TRUE(space.contains(neighbor));
      EXPECT_NE(neighbor, point);
      EXPECT_EQ(++found[neighbor], 1);
      int changes = 0;
      for (const auto &[name, value] : neighbor)
        changes += value != point.at(name);
      EXPECT_LE(changes, knobs);
    }
    EXPECT_TRUE(found.contains({{"rows", 4}, {"columns", 1}, {"programs", 1}}));
    // Three rows are illegal with two columns: only a pair gets there.
    EXPECT_EQ(found.contains({{"rows", 3}, {"columns", 1}, {"programs", 1}}), knobs == 2);
  }
}

} // namespace
} // namespace tw::tune
