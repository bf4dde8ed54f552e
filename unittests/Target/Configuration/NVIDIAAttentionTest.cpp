// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AttentionCase.h"
#include "Kernels/Attention.h"
#include "Target/NVIDIA/Configuration/AttentionCost.h"
#include "Target/NVIDIA/Product/WorkTable.h"
#include <gtest/gtest.h>
#include <numeric>

namespace tw::target::nvidia {
namespace {

const GpuArchitecture &hopper() { return *gpuArchitecture("sm_90a"); }

kernels::Attention heads(int64_t count, int64_t queries, int64_t keys, int64_t size,
                         bool isCausal = false, kernel::DType dtype = kernel::f16,
                         const char *unknown = "") {
  kernels::Attention spec;
  AttentionCase shape{.b = count, .g = 1, .l = queries, .s = keys, .e = size, .f = size};
  shape.isCausal = isCausal, shape.dtype = dtype, shape.unknown = unknown;
  shape.describeInputs(spec);
  spec.output = AttentionCase::add(spec, "o", dtype, {0, 2, 1, 5}, true);
  return spec;
}

TEST(AttentionCost, ConfigurationsAreLegal) {
  for (int64_t queries : {64, 77, 1000, 4096})
    for (int64_t keys : {1, 64, 77, 333, 4096})
      for (int64_t size : {16, 64, 72, 80, 128, 256})
        for (bool isCausal : {false, true}) {
          kernels::Attention spec = heads(4, queries, keys, size, isCausal);
          ASSERT_TRUE(isForTensorCores(spec));
          std::optional<AttentionChoice> chosen = chooseAttention(spec, hopper());
          ASSERT_TRUE(chosen) << queries << " " << keys << " " << size;
          EXPECT_TRUE(isLegal(spec, *chosen, hopper())) << queries << " " << keys << " " << size;
          EXPECT_GT(attentionCost(spec, *chosen, hopper()), 0);
        }
}

TEST(AttentionCost, KeysOfAnyNumber) {
  for (int64_t size : {64, 128, 256})
    for (bool isCausal : {false, true}) {
      kernels::Attention spec = heads(4, 1000, 1000, size, isCausal);
      spec.dims[size_t(spec.keys)] = {std::nullopt, "S"};
      ASSERT_TRUE(isForTensorCores(spec));
      std::optional<AttentionChoice> chosen = chooseAttention(spec, hopper());
      ASSERT_TRUE(chosen) << size;
      EXPECT_TRUE(isLegal(spec, *chosen, hopper()));
      EXPECT_EQ(chosen->block.keys % 16, 0);
      spec.dims[size_t(spec.keys)].most = 40;
      chosen = chooseAttention(spec, hopper());
      ASSERT_TRUE(chosen) << size;
      EXPECT_EQ(chosen->block.keys % 16, 0);
    }
}

TEST(AttentionCost, WhatTheTensorCoresCannotTake) {
  EXPECT_FALSE(isForTensorCores(heads(4, 128, 128, 64, false, kernel::f32)));
  EXPECT_FALSE(isForTensorCores(heads(4, 128, 128, 76)));
  EXPECT_FALSE(isForTensorCores(heads(4, 128, 128, 272)));
  // Behind keys there are other numbers than zeros.
  kernels::Attention part = heads(4, 128, 128, 72);
  EXPECT_TRUE(isForTensorCores(part));
  part.buffers[size_t(part.key.buffer)].shape.back() = {80};
  EXPECT_FALSE(isForTensorCores(part));
}

/// Where sums leave no room for those of a second loop; else trips without hidden keys take less.
TEST(AttentionCost, OneLoop) {
  AttentionChoice wide = *chooseAttention(heads(16, 2048, 1000, 256), hopper());
  EXPECT_TRUE(wide.block.isOneLoop);
  EXPECT_GE(wide.block.keys, 48);
  EXPECT_FALSE(chooseAttention(heads(64, 4096, 4096, 128, true), hopper())->block.isOneLoop);
  EXPECT_FALSE(chooseAttention(heads(40, 1024, 1000, 64), hopper())->block.isOneLoop);
  AttentionChoice wrong = wide;
  wrong.block.keys = 32;
  EXPECT_TRUE(isLegal(heads(16, 2048, 1000, 256), wrong, hopper()));
  EXPECT_FALSE(isLegal(heads(16, 2048, 1024, 256), wrong, hopper())); // all blocks are whole
}

/// All in one block, of one warp group's rows; where they are one query of each of several heads
/// that share keys, of all these.
TEST(AttentionCost, FewQueries) {
  for (int64_t queries : {1, 16, 63})
    for (int64_t keys : {77, 4096}) {
      kernels::Attention spec = heads(32, queries, keys, 128);
      ASSERT_TRUE(isForTensorCores(spec));
      std::optional<AttentionChoice> chosen = chooseAttention(spec, hopper());
      ASSERT_TRUE(chosen) << queries << " " << keys;
      EXPECT_TRUE(isLegal(spec, *chosen, hopper()));
      EXPECT_EQ(chosen->block.queries, queries);
      EXPECT_EQ(chosen->block.splitsKeys, keys == 4096);
    }
  kernels::Attention grouped = heads(8, 1, 4096, 128);
  grouped.dims[1] = {4};
  AttentionChoice chosen = *chooseAttention(grouped, hopper()), wrong = chosen;
  EXPECT_EQ(chosen.block.groups, 4);
  wrong.block.splitsKeys = false;
  wrong.warpGroups = 1;
  EXPECT_TRUE(isLegal(grouped, wrong, hopper()));
  wrong.warpGroups = 2; // of one's rows
  EXPECT_FALSE(isLegal(grouped, wrong, hopper()));
}

/// Where there are fewer programs than multiprocessors, keys are dealt to several, of which each
/// has as many; about one for each multiprocessor.
TEST(AttentionCost, KeysDealtToPrograms) {
  for (auto [count, queries] :
       {std::pair<int64_t, int64_t>{32, 1}, {8, 1}, {8, 16}, {4, 64}, {40, 33}}) {
    kernels::Attention spec = heads(count, queries, 8192, 128);
    AttentionChoice chosen = *chooseAttention(spec, hopper());
    EXPECT_TRUE(isLegal(spec, chosen, hopper())) << count << " " << queries;
    EXPECT_GT(chosen.parts, 1) << count << " " << queries;
    EXPECT_EQ(8192 / chosen.block.keys % chosen.parts, 0);
    EXPECT_LE(count * chosen.parts, 2 * hopper().multiprocessors);
    AttentionChoice whole = chosen;
    whole.parts = 1;
    EXPECT_GT(attentionCost(spec, whole, hopper()), attentionCost(spec, chosen, hopper()));
  }
  EXPECT_EQ(chooseAttention(heads(132, 1, 8192, 128), hopper())->parts, 1);
  EXPECT_EQ(chooseAttention(heads(32, 1, 64, 128), hopper())->parts, 1);         // few keys
  EXPECT_EQ(chooseAttention(heads(1, 64, 8192, 128, true), hopper())->parts, 1); // of two loops
}

/// Over a cache of any length.
kernels::Attention cached(int64_t count, int64_t queries) {
  return heads(count, queries, /*keys=*/1, 128, false, kernel::f16, "S");
}

/// As where keys are known; a loop of each part hides what is beyond the last key.
TEST(AttentionCost, UnknownKeysDealtToPrograms) {
  for (auto [count, queries] : {std::pair<int64_t, int64_t>{32, 1}, {8, 1}, {8, 16}, {1, 4}}) {
    kernels::Attention spec = cached(count, queries);
    AttentionChoice chosen = *chooseAttention(spec, hopper()), wrong = chosen;
    EXPECT_TRUE(isLegal(spec, chosen, hopper())) << count << " " << queries;
    EXPECT_GT(chosen.parts, 1) << count << " " << queries;
    EXPECT_LE(count * chosen.parts, 2 * hopper().multiprocessors);
    wrong.block.isOneLoop = false;
    EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  }
  EXPECT_EQ(chooseAttention(cached(264, 1), hopper())->parts, 1);
  EXPECT_EQ(chooseAttention(cached(8, 64), hopper())->parts, 1);
  kernels::Attention unknownHeads = cached(8, 1);
  unknownHeads.dims[0] = {std::nullopt, "B"};
  EXPECT_EQ(chooseAttention(unknownHeads, hopper())->parts, 1);
}

/// What is chosen for any number of keys is not much slower than what is chosen for a number, but
/// where so few are that parts do not pay.
TEST(AttentionCost, OneChoiceForAllNumbersOfKeys) {
  for (int64_t count : {8, 32}) {
    AttentionChoice chosen = *chooseAttention(cached(count, 1), hopper());
    for (int64_t keys : {1000, 4096, 32768}) {
      kernels::Attention known = heads(count, 1, keys, 128);
      double least = attentionCost(known, *chooseAttention(known, hopper()), hopper());
      EXPECT_LE(attentionCost(known, chosen, hopper()), 1.5 * least) << count << " " << keys;
    }
  }
}

TEST(AttentionCost, PartsThatAreRefused) {
  kernels::Attention spec = heads(32, 1, 4096, 128);
  AttentionChoice wrong = *chooseAttention(spec, hopper());
  wrong.parts = 3; // of which 4096 keys have no whole number of blocks each
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong.parts = 32; // more than are combined at one time
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
}

TEST(AttentionCost, WhatDoesNotFitIsRefused) {
  kernels::Attention spec = heads(4, 1024, 1024, 128);
  AttentionChoice legal = *chooseAttention(spec, hopper()), wrong = legal;
  wrong.block.queries = 96;
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal, wrong.block.keys = 72;
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal, wrong.block.keys = 256;
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal, wrong.stages = 5;
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
}

/// More warp groups read keys and values less often, but programs must come out even.
TEST(AttentionCost, BlocksFillTheGpu) {
  for (const kernels::Attention &spec : {heads(40, 1024, 1024, 64), heads(20, 4096, 4096, 64)}) {
    AttentionChoice dealt = *chooseAttention(spec, hopper());
    EXPECT_TRUE(dealt.block.splitsKeys);
    EXPECT_EQ(dealt.warpGroups, 3);
  }
  EXPECT_EQ(chooseAttention(heads(132, 192, 1024, 64), hopper())->block.queries,
            192); // come out even
  EXPECT_EQ(chooseAttention(heads(64, 4096, 4096, 128), hopper())->block.queries, 128);
}

/// Blocks of one trip each are many, and those of the next launch would come among them.
TEST(AttentionCost, TriggersLateWhereProgramsHaveOneTrip) {
  for (int64_t keys : {64, 77, 1024}) {
    kernels::Attention spec = heads(40, 1024, keys, 64);
    AttentionChoice chosen = *chooseAttention(spec, hopper()), other = chosen;
    EXPECT_EQ(chosen.isTriggerLate, keys <= 77) << keys;
    other.isTriggerLate = !chosen.isTriggerLate;
    EXPECT_TRUE(isLegal(spec, other, hopper())) << keys;
    EXPECT_LT(attentionCost(spec, chosen, hopper()), attentionCost(spec, other, hopper()));
  }
}

TEST(AttentionCost, WhatCannotBeDealt) {
  kernels::Attention spec = heads(40, 1024, 1024, 64);
  AttentionChoice legal = *chooseAttention(spec, hopper()), wrong = legal;
  EXPECT_TRUE(isLegal(spec, legal, hopper()));
  wrong.block.queries = 192; // each warp group would have all rows
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal, wrong.warpGroups = 1;
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal, wrong.stages = 2; // fewer than warp groups
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal, wrong.block.keys = 96; // of which 1024 keys have no whole number
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  EXPECT_FALSE(isLegal(heads(40, 1024, 1024, 64, true), legal, hopper()));
  EXPECT_FALSE(isLegal(heads(40, 1024, 256, 64), legal, hopper())); // fewer blocks than warp groups
}

/// Every program once: three side by side, all of one head, or one that is dealt.
TEST(WorkTable, DealtPrograms) {
  constexpr int64_t blocks = 132, ofHead = 16, headCount = 40, warpGroups = 3;
  WorkTable table = dealPrograms(ofHead, headCount, warpGroups, blocks);
  std::vector<int> seen(size_t(ofHead * headCount));
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t own = 0;
    for (int64_t round = 0; round < table.words[size_t(block)]; ++round) {
      int32_t word = table.words[size_t(blocks * (round + 1) + block)];
      int64_t first = word % dealtProgram, count = word >= dealtProgram ? 1 : warpGroups;
      EXPECT_EQ(first / ofHead, (first + count - 1) / ofHead);
      for (int64_t program = first; program < first + count; ++program)
        ++seen[size_t(program)];
      own += count;
    }
    EXPECT_TRUE(own == 4 || own == 5) << own;
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int count) { return count == 1; }));
}

TEST(WorkTable, EachProgramOnceAndEvenly) {
  std::vector<int64_t> trips(32);
  std::iota(trips.begin(), trips.end(), 1);
  constexpr int64_t blocks = 132, headCount = 64;
  WorkTable table = makeWorkTable(trips, headCount, 16, blocks);
  std::vector<int> seen(size_t(headCount) * trips.size());
  int64_t most = 0, all = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t load = 0;
    for (int64_t round = 0; round < table.words[size_t(block)]; ++round) {
      int32_t program = table.words[size_t(blocks * (round + 1) + block)];
      ++seen[size_t(program)];
      load += trips[size_t(program) % trips.size()];
    }
    most = std::max(most, load);
    all += load;
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](int count) { return count == 1; }));
  EXPECT_LE(double(most), 1.05 * double(all) / double(blocks));
}

} // namespace
} // namespace tw::target::nvidia
