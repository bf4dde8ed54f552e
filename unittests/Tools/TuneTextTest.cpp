// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search writes of kernels and their variants.
#include "tools/tilewright/Tune/FoundKernel.h"
#include "tools/tilewright/Tune/SeveralThreads.h"
#include <gtest/gtest.h>

namespace tw::cli {
namespace {
using tune::Point;

void expectIn(const std::string &text, const std::string &wanted) {
  EXPECT_NE(text.find(wanted), text.npos) << wanted << "\nis not in\n" << text;
}

/// A product whose rows only calls tell, with a variant for one row and one for up to six.
TunableKernel product() {
  TunableKernel kernel;
  kernel.name = "k0";
  kernel.signature = "0123456789abcdef";
  kernel.kind = "contraction";
  kernel.dtypes = {"f32"};
  kernel.sizes = {{"rows", {0, 512}}};
  kernel.space.knobs = {{"rows", {1, 2, 4, 6, 8}, "", {}}, {"columns", {16, 48}, "", {}}};
  kernel.isOfTarget = {{"rows", false}, {"columns", false}};
  kernel.own = kernel.chosen = {{"rows", 8}, {"columns", 48}};
  kernel.variants = {{{1, 0}, {{"rows", 1}, {"columns", 48}}},
                     {{6, 0}, {{"rows", 6}, {"columns", 48}}}};
  kernel.start.point = kernel.own;
  return kernel;
}

/// The same for calls with three rows, which run the variant for six.
TunableKernel fewRows() {
  TunableKernel kernel = product();
  kernel.bound = {4, 0};
  kernel.callSize = 3;
  kernel.start.point = kernel.variants.at({6, 0});
  return kernel;
}

const Point three = {{"rows", 4}, {"columns", 48}};

TEST(TuneText, AVariantStandsBetweenTheOthersAndTheKernelIsAsBefore) {
  KernelConfiguration written = configurationAt(fewRows(), three);
  EXPECT_EQ(written.own, product().own);
  ASSERT_TRUE(written.variants);
  ASSERT_EQ(written.variants->size(), 3u);
  EXPECT_EQ(written.variants->at({4, 0}), three);
  EXPECT_EQ(written.variants->at({6, 0}), product().variants.at({6, 0}));
}

TEST(TuneText, VariantsOfAKernelWithOtherFieldsAreChosenUnlessTheyWereGiven) {
  TunableKernel kernel = product();
  Point other = {{"rows", 4}, {"columns", 16}};
  EXPECT_FALSE(configurationAt(kernel, other).variants);
  kernel.areVariantsGiven = true;
  ASSERT_TRUE(configurationAt(kernel, other).variants);
  EXPECT_EQ(*configurationAt(kernel, other).variants, kernel.variants);
}

TEST(TuneText, WhatTheCompilerChoosesIsNotWritten) {
  TunableKernel kernel = fewRows();
  EXPECT_TRUE(isCompilersChoice(kernel, kernel.start.point));
  EXPECT_FALSE(isCompilersChoice(kernel, three));
  kernel.isChosen = false; // a spec gave what the search began with
  EXPECT_FALSE(isCompilersChoice(kernel, kernel.start.point));
  EXPECT_TRUE((FoundKernel{kernel, std::nullopt, {}}.isCompilersChoice()));
  TunableKernel own = product();
  EXPECT_TRUE(isCompilersChoice(own, own.chosen));
  own.areVariantsGiven = true;
  EXPECT_FALSE(isCompilersChoice(own, own.chosen));
}

TEST(TuneText, FilesListAllVariantsByTheirBounds) {
  std::string text = configurationText(std::vector<FoundKernel>{{fewRows(), three, {}}}, {});
  expectIn(text, R"({"kernel": "k0", "kind": "contraction", "columns": 48, "rows": 8, )"
                 R"("variants": [{"at_most": 1, )");
  expectIn(text, R"({"at_most": 4, "kind": "contraction", "columns": 48, "rows": 4})");
  TunableKernel many = product();
  many.variants.clear();
  many.bound = {0, 6};
  text = configurationText(std::vector<FoundKernel>{{many, three, {}}}, {});
  expectIn(text, R"("variants": [{"workers_at_least": 6, )");
  text = configurationText(std::vector<FoundKernel>{{product(), three, {}}}, {});
  EXPECT_EQ(text.find("variants"), text.npos);
}

TEST(TuneText, SpecsListThemAndSayWhichWasMeasured) {
  FoundKernel found{fewRows(), three, FoundKernel::Measured{"a machine", "a compiler", 10, {}}};
  std::string text = specText(ModelOptions(), {found}, {});
  expectIn(text, "variants = [\n          {at_most = 1, kind = \"contraction\"");
  expectIn(text, "{at_most = 4, kind = \"contraction\", columns = 48, rows = 4}");
  expectIn(text, "calls = \"at_most 4, size 3\"");
  expectIn(text, "\"rows\" least 0 most 512");
}

TEST(Threads, TheLeastNumberOfThoseThatAreAboutTheSameIsBest) {
  auto bestOf = [](std::vector<std::pair<int, double>> times) {
    std::vector<CallOfThreads> calls;
    for (auto [threads, us] : times)
      calls.push_back({threads, us, {}});
    return bestThreads(calls);
  };
  EXPECT_EQ(bestOf({{1, 100}, {2, 60}, {4, 40}, {16, 55}}), 4);
  EXPECT_EQ(bestOf({{1, 100}, {2, 60}, {4, 59.5}}), 2); // more threads that save nothing
  EXPECT_EQ(bestOf({{1, 10}, {2, 12}}), 1);
}

TEST(Threads, TheReportSaysWhichNumberIsBestAndWhereTheCompilersChoiceWasFaster) {
  std::string text = reportText(
      std::vector<CallOfThreads>{{1, 100, {0.9, 0.88, 0.92}}, {4, 30, {1.1, 1.05, 1.2}}});
  expectIn(text, "       1      100.0  0.900\n");
  expectIn(text, "       4       30.0  1.100  slower than the compiler's own choice\n");
  expectIn(text, "a call takes least with 4 threads\n");
}

} // namespace
} // namespace tw::cli
