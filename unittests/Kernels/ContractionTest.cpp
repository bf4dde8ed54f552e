// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Contraction.h"
#include "Language/Trace.h"
#include <gtest/gtest.h>

namespace tw::kernels {
namespace {

constexpr VectorUnit avx2{8, 16}, avx512{16, 32};

/// [m, k] x [k, n] -> [m, n], or b as [n, k].
Contraction product(int64_t m, int64_t n, int64_t k, bool isTransposed = false) {
  Contraction spec;
  spec.dims = {{m}, {n}, {k}};
  spec.buffers = {{"a", kernel::f32, {{m}, {k}}},
                  {"b", kernel::f32,
                   isTransposed ? std::vector<Extent>{{n}, {k}} : std::vector<Extent>{{k}, {n}}},
                  {"c", kernel::f32, {{m}, {n}}, true}};
  spec.a = {0, {{0}, {2}}};
  spec.b = {1, isTransposed ? std::vector<Axis>{{1}, {2}} : std::vector<Axis>{{2}, {1}}};
  spec.c = {2, {{0}, {1}}};
  return spec;
}

std::string traced(const Contraction &spec, const ContractionConfiguration &configuration) {
  auto result = kernel::trace("k", [&] { writeContraction(spec, configuration); });
  return result.error ? "error: " + result.error->message : result.text;
}

TEST(Contraction, ConfigurationsAreLegal) {
  for (const VectorUnit &unit : {avx2, avx512})
    for (int64_t m : {1, 5, 128, 1000})
      for (int64_t n : {1, 10, 64, 768, 1000})
        for (bool packed : {false, true}) {
          auto chosen = chooseContraction(product(m, n, 64), unit, packed);
          EXPECT_TRUE(isLegal(product(m, n, 64), chosen, unit)) << m << " " << n;
          EXPECT_LE(chosen.rows, m);
          EXPECT_LE(chosen.columns, std::max(n, unit.lanes));
          if (chosen.isPacked)
            EXPECT_EQ(n % chosen.columns, 0) << n; // panels fit evenly
          EXPECT_EQ(chosen.panels, 1);
        }
}

TEST(Contraction, LargeBlocksForLargeProducts) {
  auto chosen = chooseContraction(product(1024, 1024, 1024), avx512);
  EXPECT_GE(chosen.rows * chosen.columns, 20 * 16); // most of the registers
  EXPECT_FALSE(isLegal(product(1024, 1024, 1024), {chosen.rows + 1, chosen.columns + 16}, avx512));
  // One row: wide, since nothing else keeps the processor busy.
  EXPECT_GE(chooseContraction(product(1, 1024, 1024), avx512).columns, 64);
}

TEST(Contraction, ConfigurationsThatAreNot) {
  ContractionConfiguration chosen = chooseContraction(product(64, 96, 32), avx512, true);
  auto isLegal = [&](auto change, int64_t columns = 96, const VectorUnit &unit = avx512) {
    ContractionConfiguration changed = chosen;
    change(changed);
    return kernels::isLegal(product(64, columns, 32), changed, unit);
  };
  auto same = [](auto &) {};
  EXPECT_TRUE(isLegal(same));
  EXPECT_FALSE(isLegal(same, 97)); // panels would not come out even
  EXPECT_FALSE(isLegal(same, 96, {1, 16}));
  EXPECT_TRUE(isLegal([](auto &c) { c.inScratch = true; }, 96, {1, 16}));
  EXPECT_FALSE(isLegal([](auto &c) { c.rows = 0; }));
  EXPECT_FALSE(isLegal([](auto &c) { c.panels = 0; }));
  EXPECT_FALSE(isLegal([](auto &c) { c.panels = 2; })); // in registers
  EXPECT_FALSE(isLegal([](auto &c) { c.sumStep = -1; }));
  EXPECT_FALSE(isLegal([](auto &c) { c.alongSum = true; })); // nothing here is a vector
  EXPECT_FALSE(isLegal([](auto &c) { c.inPairs = true; }));  // of f32
}

TEST(Contraction, OperandsThatAreConvertedLieInScratch) {
  Contraction spec = product(128, 128, 512);
  spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
  ContractionConfiguration chosen = chooseContraction(spec, avx2, true);
  EXPECT_TRUE(chosen.inScratch);
  EXPECT_EQ(chosen.columns, 16 * chosen.panels);
  EXPECT_TRUE(isLegal(spec, chosen, avx2));
  EXPECT_NE(traced(spec, chosen).find("in %b: !tile.buffer<[8, 512, 16], bf16>"),
            std::string::npos);
  chosen.inScratch = false;
  EXPECT_FALSE(isLegal(spec, chosen, avx2));
}

TEST(Contraction, Refusals) {
  Contraction spec = product(4, 8, 16);
  EXPECT_EQ(refuse(spec), "");
  spec.b.axes[0].dim = -1; // k of a alone
  EXPECT_EQ(refuse(spec), "a dimension of one operand alone is summed over");
  spec = product(4, 8, 16);
  spec.c.axes = {{-1}, {-1}};
  EXPECT_NE(refuse(spec), "");
}

TEST(Contraction, Texts) {
  EXPECT_NE(traced(product(64, 64, 32), {8, 48}).find("tensor<8x48xf32>"), std::string::npos);
  EXPECT_NE(traced(product(64, 64, 32, true), {8, 48}).find("tile.transpose"), std::string::npos);
  std::string packed = traced(product(64, 96, 32), {8, 48, 1, 1, true});
  EXPECT_NE(packed.find("in %b: !tile.buffer<[2, 32, 48], f32>"), std::string::npos) << packed;
}

TEST(Contraction, OperandsOfTwoDtypes) {
  Contraction spec = product(64, 64, 32);
  spec.buffers[1].dtype = kernel::bf16;
  std::string text = traced(spec, chooseContraction(spec, avx2));
  EXPECT_NE(text.find("arith.extf"), std::string::npos) << text;
}

TEST(Contraction, PairsOfBf16) {
  VectorUnit unit = avx512;
  unit.pairRows = 6, unit.pairColumns = 64;
  Contraction spec = product(64, 128, 32);
  EXPECT_FALSE(chooseContraction(spec, unit, true).inPairs); // of f32 there are none
  spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
  auto chosen = chooseContraction(spec, unit, true);
  ASSERT_TRUE(chosen.inPairs);
  EXPECT_NE(traced(spec, chosen).find("in %b: !tile.buffer<[2, 16, 64, 2], bf16>"),
            std::string::npos)
      << traced(spec, chosen);
  EXPECT_FALSE(chooseContraction(spec, unit, false).inPairs); // b is no weight
  EXPECT_TRUE(isLegal(spec, chosen, unit));
  chosen.columns = 32; // not as the instructions have it
  EXPECT_FALSE(isLegal(spec, chosen, unit));
  spec.dims[1] = {100};
  EXPECT_FALSE(chooseContraction(spec, unit, true).inPairs); // panels would not fit evenly
}

} // namespace
} // namespace tw::kernels
