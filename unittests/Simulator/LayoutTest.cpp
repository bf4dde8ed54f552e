// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts against brute force: every slot of every thread.
#include "Target/NVIDIA/Layout/Fragments.h"
#include "Target/NVIDIA/Layout/SharedTile.h"
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace tw::target::nvidia {
namespace {

/// Goes through all slots and expects each element in exactly one, where slotOf finds it.
void expectEachOnce(const Layout &layout) {
  SCOPED_TRACE(layout.str());
  ASSERT_TRUE(layout.isUnique());
  std::map<Coordinates, Slot> found;
  for (int64_t thread = 0; thread < layout.threads(); ++thread)
    for (int64_t number = 0; number < layout.registers(); ++number)
      if (auto element = layout.elementAt({thread, number})) {
        ASSERT_TRUE(found.try_emplace(*element, Slot{thread, number}).second);
        ASSERT_EQ(layout.slotOf(*element), (Slot{thread, number}));
      }
  int64_t count = 1;
  for (int64_t extent : layout.extents())
    count *= extent;
  EXPECT_EQ(int64_t(found.size()), count);
  EXPECT_TRUE(layout.isComplete());
}

TEST(Layout, EachElementIsInOneSlot) {
  for (int64_t count : {1, 31, 128, 160, 208, 1000})
    expectEachOnce(strided(count, 128));
  expectEachOnce(blocks(6, 10, 3, 5));
  expectEachOnce(blocks(128, 160, 8, 8));
  expectEachOnce(blocks(77, 208, 7, 4));
  for (int64_t columns : {8, 64, 160, 208, 256})
    expectEachOnce(wgmmaSums(columns));
  expectEachOnce(wgmmaLeft());
}

TEST(Layout, OfSumsIsThatOfPtx) {
  // PTX ISA: row = 16 warp + lane / 4 + 8 (i / 2 mod 2), column = 8 (i / 4) + 2 (lane mod 4) + i
  // mod 2.
  Layout layout = wgmmaSums(160);
  ASSERT_EQ(layout.registers(), 80);
  ASSERT_EQ(layout.threads(), 128);
  for (int64_t thread = 0; thread < 128; ++thread)
    for (int64_t i = 0; i < 80; ++i) {
      int64_t warp = thread / 32, lane = thread % 32;
      Coordinates want{16 * warp + lane / 4 + 8 * (i / 2 % 2),
                       8 * (i / 4) + 2 * (lane % 4) + i % 2};
      ASSERT_EQ(layout.elementAt({thread, i}), want);
    }
}

TEST(Layout, OverlapsAndHolesAreFound) {
  Layout overlapping({8}, {{4, 0, 1}}, {{4, 0, 2}});
  EXPECT_FALSE(overlapping.isUnique());
  Layout holed({8}, {{2, 0, 1}}, {{2, 0, 4}});
  EXPECT_TRUE(holed.isUnique());
  EXPECT_FALSE(holed.isComplete());
  EXPECT_EQ(holed.slotOf({2}), std::nullopt);
  EXPECT_EQ(holed.slotOf({5}), (Slot{1, 1}));
}

TEST(Layout, BeyondTheTileIsNothing) {
  Layout layout = strided(130, 128);
  EXPECT_EQ(layout.registers(), 2);
  EXPECT_EQ(layout.elementAt({1, 1}), Coordinates{129});
  EXPECT_EQ(layout.elementAt({2, 1}), std::nullopt);
}

TEST(Layout, SumsBecomeLeftOperandsInPlace) {
  // Attention: 16 columns of the sums of one product are a left operand of the next.
  EXPECT_EQ(exchangeBetween(wgmmaSums(16), wgmmaLeft()), Exchange::Nothing);
  Layout swapped({64, 16}, {{2, 1, 8}, {2, 0, 8}, {2, 1, 1}}, wgmmaLeft().threadDigits());
  EXPECT_EQ(exchangeBetween(wgmmaLeft(), swapped), Exchange::WithinThread);
  Layout lanes({64, 16}, wgmmaLeft().registerDigits(), {{8, 0, 1}, {4, 1, 2}, {4, 0, 16}});
  EXPECT_EQ(exchangeBetween(wgmmaLeft(), lanes), Exchange::WithinWarp);
  EXPECT_EQ(exchangeBetween(wgmmaLeft(), blocks(64, 16, 4, 2)), Exchange::WithinWarp);
  Layout columns({64, 16}, {{8, 0, 8}}, {{8, 0, 1}, {16, 1, 1}});
  EXPECT_EQ(exchangeBetween(wgmmaLeft(), columns), Exchange::WithinBlock);
}

TEST(SharedTile, EachElementHasItsPlace) {
  for (int64_t columns : {8, 16, 64, 160, 208, 256}) {
    SharedTile tile(64, columns, 2);
    std::set<int64_t> places;
    for (int64_t row = 0; row < 64; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        int64_t at = tile.addressOf(row, column);
        ASSERT_LT(at, tile.bytes());
        ASSERT_TRUE(places.insert(at).second);
      }
    EXPECT_EQ(int64_t(places.size()), 64 * columns);
  }
}

TEST(SharedTile, ChunksAreAsWideAsPossible) {
  auto widths = [](int64_t columns) {
    std::vector<int64_t> all;
    SharedTile tile(128, columns, 2);
    for (const Chunk &chunk : tile.chunks())
      all.push_back(chunk.columns);
    return all;
  };
  EXPECT_EQ(widths(160), (std::vector<int64_t>{64, 64, 32}));
  EXPECT_EQ(widths(208), (std::vector<int64_t>{64, 64, 64, 16}));
}

TEST(SharedTile, AColumnIsSpreadOverTheBanks) {
  // Eight rows of 128 bytes: pieces of 16 bytes of one column are in all banks.
  SharedTile tile(64, 64, 2);
  std::set<int64_t> pieces;
  for (int64_t row = 8; row < 16; ++row)
    pieces.insert(tile.addressOf(row, 24) / 16 % 8);
  EXPECT_EQ(pieces.size(), 8u);
  // PTX ISA, "Swizzling Modes": with 128 bytes, piece p of row r lies at p xor r.
  EXPECT_EQ(tile.addressOf(3, 8 * 5), 3 * 128 + (5 ^ 3) * 16);
  // 32 bytes: two pieces, which change places in every other four rows.
  SharedTile narrow(64, 16, 2);
  EXPECT_EQ(narrow.addressOf(3, 0), 3 * 32);
  EXPECT_EQ(narrow.addressOf(4, 0), 4 * 32 + 16);
}

} // namespace
} // namespace tw::target::nvidia
