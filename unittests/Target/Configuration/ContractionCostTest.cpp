// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/ContractionCost.h"
#include "unittests/Kernels/Specs.h"
#include <array>
#include <gtest/gtest.h>

namespace tw::target::cpu {
namespace {
using kernels::product;
using kernels::traced;

constexpr VectorUnit avx2{8, 16}, avx512{16, 32};

TEST(CPUContraction, ConfigurationsAreLegal) {
  for (const VectorUnit &unit : {avx2, avx512})
    for (int64_t m : {1, 5, 128, 1000})
      for (int64_t n : {1, 10, 64, 768, 1000})
        for (bool packed : {false, true}) {
          auto chosen = chooseContraction(product(m, n, 64), unit, packed);
          EXPECT_TRUE(isLegal(product(m, n, 64), chosen, unit)) << m << " " << n;
          EXPECT_LE(chosen.rows, m);
          int64_t vectors = (n + unit.lanes - 1) / unit.lanes;
          EXPECT_LE(chosen.columns, vectors * unit.lanes);
          if (chosen.isPacked) // of whole vectors, few of which are empty
            EXPECT_EQ(chosen.columns % unit.lanes, 0) << n;
          EXPECT_EQ(chosen.isPacked, packed && 4 * n >= 3 * vectors * unit.lanes) << m << " " << n;
          EXPECT_EQ(chosen.panels, 1);
        }
}

TEST(CPUContraction, PartsOfTheColumnsThatAreReadTogether) {
  for (const VectorUnit &unit : {avx2, avx512})
    for (int64_t m : {1, 8, 500})
      for (int64_t part : {5, 12, 20, 50, 64, 509, 512})
        for (bool packed : {false, true}) {
          Contraction gates = product(m, 4 * part, 64);
          gates.columnParts = 4;
          auto chosen = chooseContraction(gates, unit, packed);
          EXPECT_TRUE(isLegal(gates, chosen, unit)) << m << " " << part << " " << packed;
          // Primes would have panels of one column.
          EXPECT_EQ(chosen.columnParts, part == 509 ? 1 : 4) << m << " " << part << " " << packed;
        }
}

TEST(CPUContraction, SizesOfNothing) {
  for (auto [m, n, k] : {std::array<int64_t, 3>{5, 7, 0}, {0, 7, 3}, {5, 0, 3}, {0, 0, 0}})
    for (bool transposed : {false, true}) {
      Contraction none = product(m, n, k, transposed);
      EXPECT_TRUE(isLegal(none, chooseContraction(none, avx512), avx512))
          << m << " " << n << " " << k << " " << transposed;
    }
}

TEST(CPUContraction, LargeBlocksForLargeProducts) {
  auto chosen = chooseContraction(product(1024, 1024, 1024), avx512);
  EXPECT_GE(chosen.rows * chosen.columns, 20 * 16); // most of the registers
  EXPECT_FALSE(
      isLegal(product(1024, 1024, 1024), {{chosen.rows + 1, chosen.columns + 16}}, avx512));
  // One row: wide, since nothing else keeps the processor busy.
  EXPECT_GE(chooseContraction(product(1, 1024, 1024), avx512).columns, 64);
}

/// Weights of layers come from beyond the caches: rows pass by a panel in memory while the next one
/// is prefetched, unless they are one block in registers.
TEST(CPUContraction, PanelsStreamByBlocksInMemory) {
  auto chosen = [](int64_t m, int64_t n, int64_t k, const VectorUnit &unit = avx512) {
    return chooseContraction(product(m, n, k), unit, true);
  };
  for (int64_t rows : {7, 16, 64, 128, 197, 512})
    for (int64_t depth : {128, 768, 1000, 3072}) {
      CPUContraction block = chosen(rows, 768, depth);
      EXPECT_TRUE(block.hasAccumulatorsInMemory) << rows << " " << depth;
      EXPECT_EQ(block.columns, 48) << rows << " " << depth;
      // No step is cut short at the call, no program left with few rows.
      EXPECT_TRUE(block.kBlock == 0 || depth % block.kBlock == 0) << rows << " " << depth;
      EXPECT_LT((rows + block.rows - 1) / block.rows * block.rows - rows, 6)
          << rows << " " << depth;
    }
  EXPECT_EQ(chosen(128, 768, 768).kBlock, 256);
  EXPECT_EQ(chosen(16, 768, 768).kBlock, 128); // room for a panel in the first-level cache
  // One block; a short sum; columns that fill half of their last panel; no panels.
  for (const CPUContraction &other :
       {chosen(6, 768, 768), chosen(128, 768, 64), chosen(128, 96, 768),
        chooseContraction(product(128, 768, 256), avx512)})
    EXPECT_FALSE(other.hasAccumulatorsInMemory);
}

/// With few registers panels are narrower, and the second-level cache is small: larger weights and
/// longer sums only.
TEST(CPUContraction, NarrowPanelsStreamByBlocksInMemory) {
  auto chosen = [](int64_t m, int64_t n, int64_t k) {
    return chooseContraction(product(m, n, k), avx2, true);
  };
  for (int64_t rows : {7, 16, 64, 128, 197, 512}) {
    CPUContraction block = chosen(rows, 768, 3072);
    EXPECT_TRUE(block.hasAccumulatorsInMemory) << rows;
    EXPECT_EQ(block.columns, 16) << rows;
    EXPECT_EQ(block.kBlock, 256) << rows;
  }
  // One block; a short sum; small weights.
  for (const CPUContraction &other :
       {chosen(6, 768, 3072), chosen(128, 6144, 128), chosen(784, 512, 256)})
    EXPECT_FALSE(other.hasAccumulatorsInMemory);
}

/// The same for variants whose rows are one block in memory while the next panel comes, in the
/// kernel's panels; more rows would be computed in vain where a call has fewer.
TEST(CPUContraction, VariantsStreamByBlocksInMemory) {
  auto variant = [](int64_t most, int64_t n, int64_t k, const VectorUnit &unit = avx512,
                    bool isWeight = true) {
    Contraction contraction = product(most, n, k);
    auto bound = [](kernels::Extent &rows) {
      rows = {.size = {}, .symbol = "M", .most = rows.size};
    };
    Contraction any = contraction;
    any.dims[rolesOf(any).rows.back()] = {.size = {}, .symbol = "M"};
    CPUContraction kernel = chooseContraction(any, unit, isWeight);
    bound(contraction.dims[rolesOf(contraction).rows.back()]);
    CPUContraction chosen = chooseVariant(contraction, unit, kernel);
    EXPECT_TRUE(isLegal(contraction, chosen, unit)) << most;
    EXPECT_EQ(chosen.columns / chosen.panels, kernel.columns / kernel.panels) << most;
    return chosen;
  };
  for (int64_t most : {8, 16}) {
    CPUContraction block = variant(most, 3072, 768);
    EXPECT_TRUE(block.hasAccumulatorsInMemory) << most;
    EXPECT_EQ(block.rows, most);
    EXPECT_EQ(block.kBlock, 128) << most;
    EXPECT_EQ(block.rowPrograms, 1) << most;
  }
  // One block in registers; too many rows; a weight that stays in the caches; a short sum; few
  // registers.
  for (const CPUContraction &other :
       {variant(6, 3072, 768), variant(64, 3072, 768), variant(16, 256, 768), variant(16, 8192, 64),
        variant(16, 3072, 768, avx2)})
    EXPECT_FALSE(other.hasAccumulatorsInMemory);
  // What is no weight is packed beside the products, which takes it all.
  CPUContraction given = variant(16, 3072, 768, avx512, false);
  EXPECT_TRUE(given.hasAccumulatorsInMemory);
  EXPECT_FALSE(given.isPacked);
  EXPECT_EQ(given.rows, 16);
}

/// Panels, or equal parts of the rows, whose number keeps 16 workers busy.
TEST(CPUContraction, EvenShares) {
  auto chosen = [](int64_t m, int64_t n) {
    return chooseContraction(product(m, n, 768), avx512, true);
  };
  EXPECT_EQ(chosen(128, 768).columns, 48);  // 16 of 48, not 12 of 64
  EXPECT_EQ(chosen(128, 1024).columns, 64); // 16 already
  EXPECT_EQ(chosen(128, 800).columns, 64);  // no multiple of 48
  EXPECT_EQ(chosen(784, 128).rows, 98);     // 8 x 2, whose parts of a panel follow each other
  EXPECT_EQ(chosen(784, 128).rowPrograms, 8);
  EXPECT_EQ(chosen(96, 256).rows, 48);
  EXPECT_EQ(chosen(64, 512).rows, 64); // fewer rows would wait for panels
  // Few rows, whose weights stream from memory as fast whatever the block.
  EXPECT_EQ(chosen(1, 768).columns, 48);
  EXPECT_EQ(chosen(4, 3072).columns, 96);  // 32 panels, not 24 of 128
  EXPECT_EQ(chosen(1, 4096).columns, 128); // 32 already
  EXPECT_EQ(chosen(1, 256).columns, 128);  // the caches keep it
}

/// CPUs with AMX have room for the sums of 128 rows in the first-level cache, but read weights as
/// seldom as they can; of all panels that stay near each meets a part of the rows at once.
TEST(CPUContraction, PanelsForOtherCaches) {
  VectorUnit amx = avx512;
  amx.hasSlowThirdLevel = true;
  amx.caches = {.secondLevel = 2 << 20};
  amx.panelRows = 128;
  auto chosen = [&](int64_t m, int64_t n, int64_t k) {
    return chooseContraction(product(m, n, k), amx, true);
  };
  EXPECT_EQ(chosen(512, 768, 768).rows, 128);
  EXPECT_EQ(chosen(512, 768, 768).columns, 64); // 48 blocks already
  EXPECT_EQ(chosen(2048, 1024, 1024).rows, 128);
  EXPECT_EQ(chosen(197, 768, 768).rows, 197);
  EXPECT_EQ(chosen(512, 768, 768).kBlock, 0);
  EXPECT_EQ(chosen(512, 768, 3072).kBlock, 256);
  CPUContraction near = chosen(784, 128, 512), far = chosen(784, 128, 768);
  EXPECT_EQ(near.rows, 98);
  EXPECT_EQ(near.columnPrograms, 2);
  EXPECT_EQ(near.rowPrograms, 1);
  EXPECT_EQ(far.columnPrograms, 1);
  EXPECT_EQ(far.rowPrograms, 8);
}

/// Rows of a that lie along K are copied beside the products. A panel of b and the part of a copy
/// that meets it then share the first-level cache, so there are fewer terms in them.
TEST(CPUContraction, FewTermsBesideACopy) {
  VectorUnit amx = avx512;
  amx.hasSlowThirdLevel = true;
  amx.caches = {.secondLevel = 2 << 20};
  Contraction spec = product(1024, 1024, 1024), copied = spec;
  copied.buffers[0].shape = {{1024}, {1024}};
  copied.a = {0, {{2}, {0}}};
  EXPECT_EQ(chooseContraction(product(1024, 1024, 1024, /*isTransposed=*/true), amx).kBlock, 256);
  CPUContraction chosen = chooseContraction(copied, amx);
  EXPECT_EQ(chosen.kBlock, 128);
  EXPECT_EQ(chosen.rows, 256);
  EXPECT_EQ(chosen.columns, 256);
}

/// Many rows by short sums are multiplied in registers, and b is transposed once.
TEST(CPUContraction, ManyRowsByShortSumsOfATransposedInput) {
  for (const VectorUnit &unit : {avx2, avx512}) {
    auto isInMemory = [&](int64_t rows, int64_t depth) {
      return chooseContraction(product(rows, 256, depth, /*isTransposed=*/true), unit)
          .hasAccumulatorsInMemory;
    };
    EXPECT_FALSE(isInMemory(3136, 64));
    EXPECT_FALSE(isInMemory(128, 13));
    EXPECT_TRUE(isInMemory(128, 64));
    EXPECT_TRUE(isInMemory(3136, 256));
  }
}

/// A block of b that is transposed beside the products stays in the first-level cache, where the
/// sum has parts that come out even in whole vectors.
TEST(CPUContraction, FewTermsOfATransposedInput) {
  auto steps = [](int64_t depth, const VectorUnit &unit, bool isTransposed = true) {
    return chooseContraction(product(128, 512, depth, isTransposed), unit).kBlock;
  };
  EXPECT_EQ(steps(512, avx512), 128);
  EXPECT_EQ(steps(512, avx2), 128);
  EXPECT_EQ(steps(768, avx512), 128);
  EXPECT_EQ(steps(576, avx512), 96);
  EXPECT_EQ(steps(256, avx512), 0);
  EXPECT_EQ(steps(415, avx512), 0);
  EXPECT_EQ(steps(768, avx512, /*isTransposed=*/false), 256);
}

/// Where b is an input, blocks keep 16 workers evenly busy. Where its rows are on many pages, they
/// are as wide as that permits, with fewer rows if need be.
TEST(CPUContraction, EvenBlocksOfInputs) {
  VectorUnit amx = avx512;
  amx.hasSlowThirdLevel = true;
  amx.caches = {.secondLevel = 2 << 20};
  amx.panelRows = 128;
  struct {
    int64_t rows, columns, sums;
    bool isTransposed;
    int64_t blockRows, blockColumns, kBlock;
  } cases[] = {{128, 768, 768, true, 128, 48, 256},    {128, 768, 768, false, 128, 48, 256},
               {128, 768, 3072, false, 128, 48, 256},  {128, 3072, 768, true, 128, 64, 256},
               {128, 3072, 768, false, 128, 192, 128}, {128, 4096, 768, false, 128, 256, 128},
               {512, 768, 3072, true, 256, 48, 256},   {512, 768, 3072, false, 128, 192, 128}};
  for (const auto &one : cases) {
    auto block = chooseContraction(product(one.rows, one.columns, one.sums, one.isTransposed), amx);
    std::string what = std::to_string(one.rows) + " x " + std::to_string(one.columns) + " x " +
                       std::to_string(one.sums) + (one.isTransposed ? " transposed" : "");
    EXPECT_EQ(block.rows, one.blockRows) << what;
    EXPECT_EQ(block.columns, one.blockColumns) << what;
    EXPECT_EQ(block.kBlock, one.kBlock) << what;
  }
}

/// Up to 64 rows of unknown number are one block in memory, which asks for the next part of b
/// meanwhile; 16 fit into registers, and more than 64 are several.
TEST(CPUContraction, SomeRowsOfPairsAreABlockInMemory) {
  VectorUnit amx = avx512;
  amx.pairRows = amx.pairColumns = 32;
  Contraction spec = product(1, 5632, 2048);
  spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
  spec.dims[0] = {std::nullopt, "M"};
  CPUContraction kernel = chooseContraction(spec, amx, true);
  ASSERT_TRUE(kernel.isInterleaved());
  auto variant = [&](int64_t most) {
    Contraction bounded = spec;
    bounded.dims[0].most = most;
    return chooseVariant(bounded, amx, kernel);
  };
  EXPECT_FALSE(kernel.hasAccumulatorsInMemory);
  EXPECT_FALSE(variant(16).hasAccumulatorsInMemory);
  EXPECT_TRUE(variant(64).hasAccumulatorsInMemory);
  EXPECT_EQ(variant(64).rows, 64);
  EXPECT_EQ(variant(64).kBlock, 512);
  Contraction bounded = spec;
  bounded.dims[0].most = 64;
  EXPECT_GT(cyclesOfUnaskedPairs(bounded, kernel), 0);
  EXPECT_EQ(cyclesOfUnaskedPairs(bounded, variant(64)), 0);
}

/// In tile registers: rows of whole tiles pass by a strip of b in the first-level cache, whose
/// depth divides the sum; fewer or other rows stay in registers.
TEST(CPUContraction, PairsPassByAStripInTileRegisters) {
  VectorUnit amx = avx512;
  amx.pairRows = amx.pairColumns = 32;
  auto chosen = [&](int64_t m, int64_t k) {
    Contraction spec = product(m, 1024, k);
    spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
    auto block = chooseContraction(spec, amx, true);
    EXPECT_TRUE(isLegal(spec, block, amx)) << m << " " << k;
    EXPECT_TRUE(block.isInterleaved()) << m << " " << k;
    return block;
  };
  for (int64_t rows : {64, 128, 320, 2048})
    for (int64_t depth : {512, 768, 1280, 5632}) {
      CPUContraction block = chosen(rows, depth);
      EXPECT_TRUE(block.hasAccumulatorsInMemory) << rows << " " << depth;
      EXPECT_EQ(block.rows % 32, 0) << rows << " " << depth;
      EXPECT_LE(block.rows, 256) << rows << " " << depth;
      EXPECT_TRUE(block.kBlock == 0 ? depth <= 640
                                    : depth % block.kBlock == 0 && block.kBlock <= 640)
          << rows << " " << depth;
    }
  for (const CPUContraction &other : {chosen(32, 1024), chosen(100, 1024)})
    EXPECT_FALSE(other.hasAccumulatorsInMemory);
}

TEST(CPUContraction, MiddlingProductsHaveBlocksForSeveralWorkers) {
  auto blocks = [](int64_t m, int64_t n, int64_t k) {
    auto chosen = chooseContraction(product(m, n, k), avx512, true);
    auto along = [](int64_t size, int64_t each) { return (size + each - 1) / each; };
    return along(m, chosen.rows * chosen.rowPrograms) *
           along(n, chosen.columns * chosen.columnPrograms);
  };
  EXPECT_GE(blocks(128, 256, 512), 8); // 300 us
  EXPECT_GE(blocks(8, 2048, 512), 8);
  EXPECT_EQ(blocks(128, 64, 32), 1); // 5 us
}

TEST(CPUContraction, BlocksOfProgramsAreEquallyLong) {
  auto chosen = chooseContraction(product(216, 2048, 256), avx512, false);
  EXPECT_EQ(chosen.rows, 6);
  EXPECT_EQ(chosen.rowPrograms, 18); // twice, not 32 and 4
}

TEST(CPUContraction, ConfigurationsThatAreNot) {
  CPUContraction chosen = chooseContraction(product(64, 96, 32), avx512, true);
  auto isLegal = [&](auto change, int64_t columns = 96, const VectorUnit &unit = avx512) {
    CPUContraction changed = chosen;
    change(changed);
    return cpu::isLegal(product(64, columns, 32), changed, unit);
  };
  auto same = [](auto &) {};
  EXPECT_TRUE(isLegal(same));
  EXPECT_TRUE(isLegal(same, 97)); // the last panel is padded
  auto inPanels = [](auto &c) { c.hasAccumulatorsInMemory = true, c.panels = 2; };
  EXPECT_TRUE(isLegal(inPanels));
  EXPECT_FALSE(isLegal(inPanels, 97)); // not where a program has several
  EXPECT_FALSE(isLegal(same, 96, {1, 16}));
  EXPECT_TRUE(isLegal([](auto &c) { c.hasAccumulatorsInMemory = true; }, 96, {1, 16}));
  EXPECT_FALSE(isLegal([](auto &c) { c.rows = 0; }));
  EXPECT_FALSE(isLegal([](auto &c) { c.panels = 0; }));
  EXPECT_FALSE(isLegal([](auto &c) { c.panels = 2; })); // in registers
  EXPECT_FALSE(isLegal([](auto &c) { c.kBlock = -1; }));
  EXPECT_FALSE(isLegal([](auto &c) { c.vectorizesReduction = true; })); // nothing here is a vector
  EXPECT_FALSE(isLegal([](auto &c) { c.interleave(); }));               // of f32
}

TEST(CPUContraction, OperandsThatAreConvertedLieInScratch) {
  Contraction spec = product(128, 128, 512);
  spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
  CPUContraction chosen = chooseContraction(spec, avx2, true);
  EXPECT_TRUE(chosen.hasAccumulatorsInMemory);
  EXPECT_EQ(chosen.columns, 16 * chosen.panels);
  EXPECT_TRUE(isLegal(spec, chosen, avx2));
  EXPECT_NE(traced(spec, chosen).find("in %b: !tile.buffer<[8, 512, 16], bf16>"),
            std::string::npos);
  chosen.hasAccumulatorsInMemory = false;
  EXPECT_FALSE(isLegal(spec, chosen, avx2));
}

TEST(CPUContraction, InputsArePackedBesideTheProducts) {
  auto packs = [](const Contraction &spec, const VectorUnit &unit) {
    auto chosen = chooseContraction(spec, unit);
    EXPECT_TRUE(isLegal(spec, chosen, unit));
    EXPECT_FALSE(chosen.hasAccumulatorsInMemory && chosen.isPacked);
    return chosen.hasAccumulatorsInMemory;
  };
  EXPECT_TRUE(packs(product(128, 768, 64, true), avx512)); // strided columns
  EXPECT_FALSE(packs(product(8, 768, 768, true), avx512)); // row by row
  EXPECT_TRUE(packs(product(128, 768, 768), avx512));      // a long sum
  EXPECT_FALSE(packs(product(128, 768, 256), avx512));
  EXPECT_TRUE(packs(product(128, 768, 256), avx2));
  // Rows in equal parts; a loop that no two workers share, as there are programs enough.
  auto chosen = chooseContraction(product(512, 3072, 768, true), avx512);
  EXPECT_EQ(chosen.rows, 171);
  EXPECT_EQ(chosen.kBlock, 128);
  EXPECT_FALSE(chosen.splitsK);
  EXPECT_TRUE(chooseContraction(product(128, 128, 20000), avx512).splitsK);
}

TEST(CPUContraction, PairsOfBf16) {
  VectorUnit unit = avx512;
  unit.pairRows = 6, unit.pairColumns = 64;
  Contraction spec = product(64, 128, 32);
  EXPECT_FALSE(chooseContraction(spec, unit, true).isInterleaved()); // of f32 there are none
  spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
  auto chosen = chooseContraction(spec, unit, true);
  ASSERT_TRUE(chosen.isInterleaved());
  EXPECT_NE(traced(spec, chosen).find("in %b: !tile.buffer<[2, 16, 64, 2], bf16>"),
            std::string::npos)
      << traced(spec, chosen);
  EXPECT_FALSE(chooseContraction(spec, unit, false).isInterleaved()); // b is no weight
  EXPECT_TRUE(isLegal(spec, chosen, unit));
  chosen.rows = 12, chosen.columns = 32; // as many sums
  EXPECT_TRUE(isLegal(spec, chosen, unit));
  chosen.columns = 16; // not as the instructions have it
  EXPECT_FALSE(isLegal(spec, chosen, unit));
  for (auto [columns, arePairs] : {std::pair(100, true), {50257, true}, {48, true}, {10, false}}) {
    spec.dims[1] = {columns}; // the last panel is padded
    EXPECT_EQ(chooseContraction(spec, unit, true).isInterleaved(), arePairs) << columns;
  }
}

TEST(CPUContraction, FewRowsOfPairsAreCutEvenly) {
  using Block = std::pair<int64_t, int64_t>; // rows, columns
  VectorUnit unit = avx512;
  unit.pairRows = 6, unit.pairColumns = 64;
  auto chosen = [&](int64_t rows) {
    Contraction spec = product(rows, 2048, 2048);
    spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
    CPUContraction block = chooseContraction(spec, unit, true);
    EXPECT_TRUE(isLegal(spec, block, unit));
    return Block(block.rows, block.columns);
  };
  EXPECT_EQ(chosen(6), Block(6, 64));
  EXPECT_EQ(chosen(8), Block(8, 32)); // and no block of six with one of two
  EXPECT_EQ(chosen(16), Block(8, 32));
  EXPECT_EQ(chosen(128).second, 64);
}

TEST(CPUContraction, CostsGrowWithWork) {
  Contraction spec = product(1024, 1024, 1024);
  CPUContraction chosen = chooseContraction(spec, avx512);
  double cost = contractionCost(spec, chosen, avx512);
  EXPECT_GT(contractionCost(spec, {1, 16}, avx512), 2 * cost); // loads
  EXPECT_NEAR(contractionCost(product(1024, 1024, 2048), chosen, avx512), 2 * cost, 1e-6 * cost);
}

} // namespace
} // namespace tw::target::cpu
