// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Analysis/Loops/DimTable.h"
#include <gtest/gtest.h>

namespace tw::conversion {
namespace {

std::vector<int64_t> sizes(const DimTable &table, const std::vector<int> &dims) {
  std::vector<int64_t> found;
  for (int atom : table.atoms(dims))
    found.push_back(table.size(atom).value_or(-1));
  return found;
}

TEST(DimTable, CutsWhatAReshapeCuts) {
  DimTable table;
  int whole = table.make(768), heads = table.make(12), width = table.make(64);
  ASSERT_TRUE(table.unify({whole}, {heads, width}));
  EXPECT_EQ(table.atoms({whole}), table.atoms({heads, width}));
  EXPECT_EQ(sizes(table, {whole}), (std::vector<int64_t>{12, 64}));
}

TEST(DimTable, CutsBothSides) {
  DimTable table;
  int a = table.make(6), b = table.make(4), c = table.make(2), d = table.make(12);
  ASSERT_TRUE(table.unify({a, b}, {c, d})); // 6 x 4 = 2 x 12: 2 x 3 x 4
  EXPECT_EQ(sizes(table, {a}), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(sizes(table, {d}), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(table.atoms({a, b}), table.atoms({c, d}));
}

TEST(DimTable, RefusesWhatDoesNotFit) {
  DimTable table;
  int a = table.make(6), b = table.make(4), c = table.make(8), d = table.make(3);
  EXPECT_FALSE(table.unify({a, b}, {c, d})); // 8 is no multiple of 6
  EXPECT_FALSE(table.unify({a}, {b}));
}

TEST(DimTable, UnitsVanish) {
  DimTable table;
  int one = table.make(1), n = table.make(5), m = table.make(5);
  ASSERT_TRUE(table.unify({one, n}, {m, one}));
  EXPECT_EQ(table.atoms({one, n, one}), table.atoms({m}));
  EXPECT_TRUE(table.atoms({one}).empty());
}

TEST(DimTable, UnknownSizes) {
  DimTable table;
  int whole = table.make({}), rows = table.make({}), columns = table.make(8), known = table.make(7);
  ASSERT_TRUE(table.unify({whole}, {rows, columns}));
  EXPECT_EQ(sizes(table, {whole}), (std::vector<int64_t>{-1, 8}));
  ASSERT_TRUE(table.unify({rows}, {known})); // a size that one side knows is known to both
  EXPECT_EQ(sizes(table, {whole}), (std::vector<int64_t>{7, 8}));
  int a = table.make({}), b = table.make({}), c = table.make({}), d = table.make({});
  EXPECT_FALSE(table.unify({a, b}, {c, d})); // 2 x 6 or 3 x 4
}

} // namespace
} // namespace tw::conversion
