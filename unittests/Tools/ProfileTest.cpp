// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/tilewright/Profile/Text.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace tw::cli;

namespace {

/// Bound by arithmetic, or else by memory.
ProfileRow row(const std::string &name, const std::string &module, double boundUs,
               bool isArithmetic) {
  ProfileRow row;
  row.name = row.kernel = name;
  row.module = module;
  row.calls = 2;
  row.totalUs = 2 * boundUs;
  row.boundUs = boundUs;
  row.arithmeticUs = isArithmetic ? boundUs : 0;
  return row;
}

TEST(Profile, AGroupIsBoundByWhatBoundsMostOfIt) {
  Profile profile;
  profile.dispatches = {row("small", "a.copy", 1, false), row("large", "a.linear", 8, true),
                        row("other", "b", 3, false)};
  std::vector<ProfileRow> rows = groupRows(profile, Grouping::Module);
  auto boundOf = [&](std::string_view name) {
    auto found = std::ranges::find(rows, name, &ProfileRow::name);
    return found == rows.end() ? "missing" : found->bound();
  };
  EXPECT_EQ(boundOf("(all)"), "flops"); // though the first dispatch is bound by memory
  EXPECT_EQ(boundOf("a"), "flops");
  EXPECT_EQ(boundOf("a.copy"), "bytes");
  EXPECT_EQ(boundOf("b"), "bytes");
  profile.dispatches.push_back(row("more", "b", 9, false));
  rows = groupRows(profile, Grouping::Module);
  EXPECT_EQ(boundOf("(all)"), "bytes");
  profile.dispatches.back().boundUs.reset(); // so it is not known of all of them
  rows = groupRows(profile, Grouping::Module);
  EXPECT_EQ(boundOf("(all)"), "");
}

TEST(Profile, OfSamplesTheFastestCounts) {
  Roofline all;
  all.raiseTo({{2, 10, 40}, 7, 1});
  all.raiseTo({{2, 90, 20}, 3, 5});
  EXPECT_EQ(all.arithmetic.threads, 2);
  EXPECT_EQ(all.arithmetic.flops32, 90);
  EXPECT_EQ(all.arithmetic.flops16, 40);
  EXPECT_EQ(all.weightBandwidth, 7);
  EXPECT_EQ(all.temporaryBandwidth, 5);
}

} // namespace
