// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which blocks the cpu target chooses for attention. Measured: docs/compiler-kernels.md.
#include "Target/CPU/Configuration/AttentionCost.h"
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::target::cpu {
namespace {

constexpr VectorUnit avx2{8, 16}, avx512{16, 32};

/// [b, g, l, e] over [b, s, e] and [b, s, e].
Attention heads(int64_t b, int64_t g, kernels::Extent l, kernels::Extent s, int64_t e) {
  Attention spec;
  spec.dims = {{b}, {g}, l, s, {e}, {e}};
  spec.queries = 2, spec.keys = 3, spec.depth = 4, spec.width = 5;
  spec.buffers = {{"q", kernel::f32, {{b}, {g}, l, {e}}},
                  {"k", kernel::f32, {{b}, s, {e}}},
                  {"v", kernel::f32, {{b}, s, {e}}},
                  {"o", kernel::f32, {{b}, {g}, l, {e}}, true}};
  spec.query = {0, {{0}, {1}, {2}, {4}}}, spec.key = {1, {{0}, {3}, {4}}};
  spec.value = {2, {{0}, {3}, {5}}}, spec.output = {3, {{0}, {1}, {2}, {5}}};
  return spec;
}

TEST(CPUAttention, EveryChoiceIsLegalAndCanBeWritten) {
  for (const VectorUnit &unit : {avx2, avx512})
    for (kernels::Extent l : {kernels::Extent{1}, {3}, {197}, {2048}, {std::nullopt, "L"}})
      for (kernels::Extent s : {kernels::Extent{1}, {77}, {128}, {5000}, {std::nullopt, "S"}})
        for (int64_t g : {1, 4, 7})
          for (bool isCausal : {false, true}) {
            Attention spec = heads(2, g, l, s, 64);
            spec.isCausal = isCausal;
            auto chosen = chooseAttention(spec, unit);
            EXPECT_TRUE(holds(attentionConstraints(spec), numbersOf(chosen)));
            std::string text = kernels::tracedBy([&] { writeAttention(spec, chosen); });
            EXPECT_NE(text.find("tile.store"), std::string::npos) << text;
          }
}

TEST(CPUAttention, Blocks) {
  // A short row of keys is one block, a long one is walked over in large ones.
  EXPECT_EQ(chooseAttention(heads(20, 1, {128}, {128}, 64), avx512).keys, 128);
  EXPECT_GE(chooseAttention(heads(20, 1, {512}, {512}, 64), avx512).keys, 256);
  EXPECT_LT(chooseAttention(heads(20, 1, {4096}, {4096}, 64), avx512).keys, 4096);
  // Keys that do not fill vectors lie along rows.
  EXPECT_TRUE(chooseAttention(heads(20, 1, {1024}, {77}, 64), avx512).isTransposed);
  EXPECT_FALSE(chooseAttention(heads(20, 1, {1024}, {128}, 64), avx512).isTransposed);
  // Few heads have small blocks, so that there are programs for all workers.
  EXPECT_LT(chooseAttention(heads(4, 1, {128}, {128}, 64), avx512).queries, 128);
  // But not of a kernel that is done before another thread has begun.
  EXPECT_EQ(chooseAttention(heads(4, 1, {48}, {48}, 32), avx512).queries, 48);
  EXPECT_EQ(chooseAttention(heads(2, 1, {64}, {64}, 64), avx512).queries, 32);
  // Known queries are cut into even parts of whole vectors: 2 x 112, and not 128 and 69.
  EXPECT_EQ(chooseAttention(heads(12, 1, {197}, {197}, 64), avx512).queries, 112);
  // Later keys are not looked at, so blocks on the diagonal stay small.
  Attention causal = heads(32, 1, {2048}, {2048}, 128);
  causal.isCausal = true;
  EXPECT_LE(chooseAttention(causal, avx512).keys, 256);
}

/// Scores of 256 x 1024, the same as bf16, keys and values are more than a half of 2 MB.
TEST(CPUAttention, TripsInTileRegistersStayInTheSecondLevelCache) {
  VectorUnit amx = avx512;
  amx.pairRows = amx.pairColumns = 32;
  amx.caches.secondLevel = 2 << 20;
  Attention spec = heads(20, 1, {1024}, {1024}, 64);
  for (kernels::BufferSpec &buffer : spec.buffers)
    buffer.dtype = kernel::bf16;
  spec.sum = kernel::f32;
  auto chosen = chooseAttention(spec, amx);
  EXPECT_LT(chosen.queries * chosen.keys, 256 * 1024);
  // Of a larger cache they are not.
  amx.caches.secondLevel = 8 << 20;
  chosen = chooseAttention(spec, amx);
  EXPECT_EQ(chosen.queries * chosen.keys, 256 * 1024);
}

TEST(CPUAttention, DecodingReadsItsCacheOnce) {
  auto chosen = chooseAttention(heads(8, 4, {1}, {4096}, 128), avx512);
  EXPECT_EQ(chosen.groups, 4);
  EXPECT_EQ(chosen.keys, 512); // few streams begin anew, and the second-level cache has room
  EXPECT_FALSE(chosen.isTransposed);
  EXPECT_TRUE(chosen.splitsKeys); // among more workers than heads
  EXPECT_FALSE(chooseAttention(heads(64, 4, {1}, {4096}, 128), avx512).splitsKeys);
}

} // namespace
} // namespace tw::target::cpu
