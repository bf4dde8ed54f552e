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
  EXPECT_LE(sum / cases, 1.01);
  EXPECT_LE(worst, 1.15);
}

TEST(Planner, IsDeterministic) {
  std::mt19937 random(3);
  auto buffers = randomModel(random, 80);
  EXPECT_EQ(planMemory(buffers)->offsets, planMemory(buffers)->offsets);
}
