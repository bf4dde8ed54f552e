// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Planner.h"
#include <gtest/gtest.h>
#include <random>

using namespace tw;

/// Aligned, inside the arena, and no two buffers that live together share a byte.
static void expectValid(const std::vector<PlanBuffer> &buffers, const MemoryPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0);
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.peak);
    for (size_t j = 0; j < i; ++j) {
      bool together = buffers[i].begin <= buffers[j].end && buffers[j].begin <= buffers[i].end;
      bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                   plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
  EXPECT_GE(plan.peak, plan.bound);
}

TEST(Planner, ReusesMemoryOfTheDead) {
  std::vector<PlanBuffer> chain;
  for (int i = 0; i < 100; ++i)
    chain.push_back({i, i + 1, 1000});
  auto plan = planMemory(chain);
  ASSERT_TRUE(plan);
  expectValid(chain, *plan);
  EXPECT_EQ(plan->peak, 2 * 1024);
  EXPECT_EQ(plan->bound, 2 * 1024);
}

TEST(Planner, EmptyAndZeroBytes) {
  EXPECT_EQ(planMemory({})->peak, 0);
  std::vector<PlanBuffer> nothing = {{0, 5, 0}, {0, 5, 0}};
  auto plan = planMemory(nothing);
  EXPECT_EQ(plan->peak, 0);
  EXPECT_EQ(plan->offsets, (std::vector<int64_t>{0, 0}));
}

TEST(Planner, RefusesWhatNoMemoryHolds) {
  std::vector<PlanBuffer> negative = {{0, 1, -1}}, backwards = {{2, 1, 8}},
                          huge = {{0, 1, INT64_MAX}},
                          sum = {{0, 1, int64_t(1) << 60}, {0, 1, int64_t(1) << 60}};
  EXPECT_FALSE(planMemory(negative));
  EXPECT_FALSE(planMemory(backwards));
  EXPECT_FALSE(planMemory(huge));
  EXPECT_FALSE(planMemory(sum));
}

TEST(Planner, StepsMayBeTheLargest) {
  std::vector<PlanBuffer> buffers = {{0, INT64_MAX, 64}, {INT64_MAX, INT64_MAX, 64}};
  auto plan = planMemory(buffers);
  expectValid(buffers, *plan);
  EXPECT_EQ(plan->bound, 128);
}

/// Random lifetimes of the kind models have: most short, few long, sizes over three decades.
static std::vector<PlanBuffer> randomModel(std::mt19937 &random, int count) {
  std::vector<PlanBuffer> buffers;
  for (int i = 0; i < count; ++i) {
    int length = random() % 8 == 0 ? random() % 40 : 1 + random() % 3;
    buffers.push_back({i, i + length, int64_t(1 + random() % 1000) << (random() % 8)});
  }
  return buffers;
}

TEST(Planner, RandomPlansAreValidAndTight) {
  std::mt19937 random(7);
  double worst = 1, sum = 0;
  constexpr int cases = 100;
  for (int i = 0; i < cases; ++i) {
    auto buffers = randomModel(random, 5 + random() % 120);
    auto plan = planMemory(buffers);
    ASSERT_TRUE(plan);
    expectValid(buffers, *plan);
    double ratio = double(plan->peak) / double(plan->bound);
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  EXPECT_LE(sum / cases, 1.001);
  EXPECT_LE(worst, 1.02);
}

/// Models of e2e whose temporaries no order of placing one after another packs as tightly as they
/// can be: an encoder and decoder, a GRU, T5 and a step of training attention.
TEST(Planner, PacksWhatOrdersDoNot) {
  const std::vector<PlanBuffer> models[] = {
      {{0, 1, 2304},  {1, 3, 768},    {1, 3, 768},    {1, 3, 768},   {2, 18, 96},    {3, 10, 768},
       {4, 5, 1920},  {5, 6, 640},    {5, 6, 640},    {5, 6, 640},   {6, 7, 640},    {7, 8, 640},
       {8, 20, 640},  {9, 18, 640},   {10, 11, 768},  {11, 14, 768}, {12, 13, 1152}, {13, 14, 768},
       {14, 15, 768}, {15, 16, 1536}, {16, 17, 1536}, {17, 18, 768}, {17, 18, 768},  {18, 19, 640},
       {19, 20, 640}, {20, 23, 640},  {21, 22, 960},  {22, 23, 640}},
      {{0, 6, 1152},
       {1, 11, 1152},
       {2, 12, 384},
       {2, 26, 96},
       {3, 5, 96},
       {7, 12, 384},
       {7, 26, 96},
       {8, 10, 96},
       {12, 14, 768},
       {13, 24, 1152},
       {14, 19, 1152},
       {15, 25, 384},
       {15, 26, 96},
       {16, 18, 96},
       {0, 25, 384},
       {20, 26, 96},
       {21, 23, 96}},
      {{0, 1, 768},   {0, 10, 768},  {1, 2, 2304},  {2, 9, 768},    {3, 4, 512},   {3, 7, 512},
       {4, 5, 1536},  {5, 6, 512},   {6, 7, 512},   {7, 8, 512},    {7, 17, 512},  {8, 15, 512},
       {9, 10, 768},  {10, 11, 768}, {10, 13, 768}, {11, 12, 1152}, {12, 13, 768}, {14, 15, 1536},
       {15, 16, 512}, {16, 17, 512}, {17, 18, 512}, {17, 20, 512},  {18, 19, 768}, {19, 20, 512}},
      {{0, 19, 480},  {0, 21, 40},   {0, 21, 40},   {1, 2, 1440},   {2, 16, 480},   {2, 15, 480},
       {2, 13, 480},  {3, 4, 400},   {4, 14, 400},  {5, 10, 480},   {6, 7, 480},    {7, 8, 480},
       {7, 8, 120},   {8, 11, 480},  {9, 11, 480},  {11, 13, 480},  {12, 17, 480},  {13, 14, 400},
       {14, 16, 400}, {15, 17, 480}, {16, 17, 480}, {17, 18, 1440}, {18, 20, 1440}, {20, 21, 480}}};
  for (const auto &buffers : models) {
    auto plan = planMemory(buffers);
    ASSERT_TRUE(plan);
    expectValid(buffers, *plan);
    EXPECT_EQ(plan->peak, plan->bound) << buffers.size();
  }
}

/// Some lifetimes and sizes fit into no arena of as many bytes as live together.
TEST(Planner, SomeBoundsAreNotMet) {
  std::vector<PlanBuffer> buffers = {{3, 4, 128}, {0, 2, 192}, {3, 5, 64}, {6, 8, 192},
                                     {1, 3, 192}, {5, 6, 192}, {4, 5, 64}};
  auto plan = planMemory(buffers);
  ASSERT_TRUE(plan);
  expectValid(buffers, *plan);
  EXPECT_EQ(plan->bound, 384);
  EXPECT_EQ(plan->peak, 448);
}

TEST(Planner, IsDeterministic) {
  std::mt19937 random(3);
  auto buffers = randomModel(random, 80);
  EXPECT_EQ(planMemory(buffers)->offsets, planMemory(buffers)->offsets);
}
