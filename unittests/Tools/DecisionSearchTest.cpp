// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search among decisions, with times that are planted: no program runs.
#include "tools/tilewright/Tune/ConfigurationText.h"
#include "tools/tilewright/Tune/FoundKernel.h"
#include <gtest/gtest.h>

namespace tw::cli {
namespace {

Decision decision(const std::string &kind, std::vector<std::string> operators,
                  std::vector<std::string> operations, bool isTaken) {
  std::vector<std::string> types(operators.size(), "128x768xf32");
  return {kind, std::move(operators), std::move(operations), std::move(types), isTaken};
}

const std::vector<Decision> ofModel = {
    decision("fuse", {"linear", "relu"}, {"linear", "relu"}, true),
    decision("fuse", {"linear_1", "relu_1"}, {"linear", "relu"}, true),
    decision("fuse", {"relu", "linear_1"}, {"relu", "linear"}, false),
    decision("channels_last", {"conv2d"}, {"conv2d"}, true),
    decision("fuse", {"add", "mul"}, {"add", "mul"}, true),
};
const std::map<std::string, double> usOf = {{"linear", 40}, {"relu", 5},   {"linear_1", 40},
                                            {"relu_1", 5},  {"conv2d", 9}, {"add", 0.1},
                                            {"mul", 0.1}};

TEST(Alternatives, LayersThatRepeatAreTurnedTogetherAndTheLongestComeFirst) {
  std::vector<Alternative> all = alternativesOf(ofModel, usOf);
  ASSERT_EQ(all.size(), 3u); // add and mul take too little
  ASSERT_EQ(all[0].size(), 2u);
  EXPECT_EQ(all[0][1].text(), "fuse of linear_1 and relu_1: declined");
  EXPECT_EQ(all[1][0].text(), "fuse of relu and linear_1: taken");
  EXPECT_EQ(all[2][0].text(), "channels_last of conv2d: declined");
}

/// A call takes 100 us, and what is planted less or more for each decision that is turned round;
/// its first measurement is off by `luck`.
class PlantedTrials : public DecisionTrials {
public:
  std::map<std::string, double> change; // by the first operator
  std::map<std::string, double> luck;
  std::string refused, interrupted;
  double width = 0.01; // of intervals, to each side
  std::vector<std::vector<std::string>> tried;

  Result<AlternativeTrial> tryOut(const std::vector<Decision> &wanted, bool isFinal) override {
    std::vector<std::string> names;
    double us = 100;
    for (const Decision &each : wanted) {
      names.push_back(each.operators.front());
      us += change[each.operators.front()];
    }
    tried.push_back(names);
    if (names.back() == interrupted)
      return AlternativeTrial{.isInterrupted = true};
    if (names.back() == refused)
      return AlternativeTrial{"another kernel runs between", {}};
    last = us;
    double ratio = (us + (isFinal ? 0 : luck[names.back()])) / kept;
    return AlternativeTrial{"", {ratio, ratio - width, ratio + width}};
  }
  void keep() override { kept = last; }

private:
  double kept = 100, last = 100;
};

/// Nothing is known of what Ctrl-C ends, not even that it cannot be had.
TEST(DecisionSearch, EndsWhereItIsInterrupted) {
  PlantedTrials trials;
  trials.change = {{"linear", -10}};
  trials.interrupted = "relu";
  auto report = searchDecisions(alternativesOf(ofModel, usOf), trials, [] { return true; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->tried, 1u);
  EXPECT_EQ(report->refused, 0u);
  EXPECT_EQ(report->kept.size(), 1u);
  EXPECT_EQ(trials.tried.size(), 3u); // the first one twice, then that
}

TEST(DecisionSearch, KeepsWhatIsFasterBesideWhatIsKept) {
  PlantedTrials trials;
  trials.change = {{"linear", 10}, {"linear_1", 10}, {"relu", -20}, {"conv2d", -10}};
  auto report = searchDecisions(alternativesOf(ofModel, usOf), trials, [] { return true; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->tried, 3u);
  ASSERT_EQ(report->kept.size(), 2u);
  EXPECT_NEAR(report->kept[0].ratio.median, 0.8, 1e-9);
  EXPECT_NEAR(report->kept[1].ratio.median, 70. / 80, 1e-9); // in terms of the one before
  EXPECT_EQ(trials.tried.back(), (std::vector<std::string>{"relu", "conv2d"}));
}

TEST(DecisionSearch, WhatWasFasterOnceOnlyIsNotKept) {
  PlantedTrials trials;
  trials.luck = {{"relu", -30}};
  auto report = searchDecisions(alternativesOf(ofModel, usOf), trials, [] { return true; });
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->kept.empty());
  EXPECT_EQ(trials.tried.size(), 4u); // relu twice
}

TEST(DecisionSearch, LessThanAHundredthIsNoReasonToChange) {
  PlantedTrials trials;
  trials.change = {{"relu", -0.9}};
  trials.width = 0.001;
  auto report = searchDecisions(alternativesOf(ofModel, usOf), trials, [] { return true; });
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->kept.empty());
}

TEST(DecisionSearch, WhatCannotBeHadIsCountedAndTheRestGoesOn) {
  PlantedTrials trials;
  trials.refused = "relu";
  trials.change = {{"conv2d", -10}};
  auto report = searchDecisions(alternativesOf(ofModel, usOf), trials, [] { return true; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->refused, 1u);
  ASSERT_EQ(report->decisions().size(), 1u);
  EXPECT_EQ(report->decisions()[0].kind, "channels_last");
}

TEST(DecisionSearch, EndsWithTheBudget) {
  PlantedTrials trials;
  int asked = 0;
  auto report = searchDecisions(alternativesOf(ofModel, usOf), trials, [&] { return ++asked < 2; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->tried, 1u);
}

TEST(DecisionText, FilesNameOperatorsAndSpecsOperationsOnce) {
  std::vector<Decision> all(ofModel.begin(), ofModel.begin() + 2);
  std::string text = configurationText(std::vector<FoundKernel>(), all);
  EXPECT_NE(
      text.find(
          R"("decisions": [{"decision": "fuse", "operators": ["linear", "relu"], "want": true}, )"
          R"({"decision": "fuse", "operators": ["linear_1", "relu_1"], "want": true}])"),
      text.npos)
      << text;
  std::string rules = decisionRules(all);
  EXPECT_EQ(rules, "[\n    {decision = \"fuse\", operations = [\"linear\", \"relu\"],\n"
                   "     types = [\"128x768xf32\", \"128x768xf32\"], want = true}]");
  EXPECT_NE(specText(ModelOptions(), {}, all).find("tuning.decisions = [\n"), std::string::npos);
}

TEST(DecisionText, DifferencesAreWhatASpecHasChanged) {
  std::vector<Decision> before = ofModel;
  before[3].isTaken = false;
  std::vector<Decision> different = differences(ofModel, before);
  ASSERT_EQ(different.size(), 1u);
  EXPECT_EQ(different[0].text(), "channels_last of conv2d: taken");
}

} // namespace
} // namespace tw::cli
