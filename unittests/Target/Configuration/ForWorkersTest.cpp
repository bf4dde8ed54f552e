// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/ForWorkers.h"
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::target::cpu {
namespace {
using kernels::image;
using kernels::product;

VectorUnit amx() {
  VectorUnit unit{16, 32};
  unit.hasSlowThirdLevel = true;
  unit.caches = {.secondLevel = 2 << 20};
  unit.panelRows = 128;
  return unit;
}

/// dY^T x: rows of a lie along the sum.
Contraction gradient(int64_t rows, int64_t columns, int64_t sums) {
  Contraction spec = product(rows, columns, sums);
  spec.buffers[0].shape = {{sums}, {rows}};
  spec.a = {0, {{2}, {0}}};
  return spec;
}

int64_t programsOf(const Contraction &spec, const CPUContraction &block) {
  auto along = [](const kernels::Extent &extent, int64_t each) {
    return (*extent.size + each - 1) / each;
  };
  return along(spec.dims[0], block.rows) * along(spec.dims[1], block.columns);
}

TEST(ForWorkers, ProductsOfFewProgramsAreCut) {
  Contraction spec = gradient(768, 768, 512);
  CPUContraction few = chooseContraction(spec, amx());
  auto many = chooseForWorkers(spec, amx(), few);
  ASSERT_TRUE(many);
  EXPECT_GE(many->workers, 2);
  EXPECT_LE(many->workers, 16);
  EXPECT_GT(programsOf(spec, many->configuration), programsOf(spec, few));
  EXPECT_EQ(programsOf(spec, many->configuration) % 16, 0);
  EXPECT_EQ(many->configuration.kBlock, few.kBlock); // the same sums
  EXPECT_TRUE(isLegal(spec, many->configuration, amx()));
}

TEST(ForWorkers, NotWhereProgramsAreEven) {
  Contraction spec = gradient(3072, 768, 512); // 48 programs
  EXPECT_FALSE(chooseForWorkers(spec, amx(), chooseContraction(spec, amx())));
}

TEST(ForWorkers, NotOfLittleWork) {
  Contraction spec = gradient(36, 64, 257);
  EXPECT_FALSE(chooseForWorkers(spec, amx(), chooseContraction(spec, amx())));
}

TEST(ForWorkers, NotInRegistersOrOfUnknownSizes) {
  Contraction spec = gradient(768, 768, 512);
  CPUContraction few = chooseContraction(spec, amx()), inRegisters = few;
  inRegisters.hasAccumulatorsInMemory = false;
  EXPECT_FALSE(chooseForWorkers(spec, amx(), inRegisters));
  spec.dims[0] = {std::nullopt, "M"};
  EXPECT_FALSE(chooseForWorkers(spec, amx(), few));
}

/// 49 blocks of 2 x 2 places and 64 of 256 outputs: four programs.
TEST(ForWorkers, ConvolutionsByWinogradHaveFewerLines) {
  Convolution spec = image(256, 256, 14, 3);
  kernels::transformWeights(spec, panelOutputs);
  ConvolutionConfiguration few = chooseConvolution(spec, amx(), true);
  auto many = chooseForWorkers(spec, amx(), few);
  ASSERT_TRUE(many);
  EXPECT_LT(many->configuration.height, few.height);
  EXPECT_EQ(many->configuration.width, few.width);
  EXPECT_EQ(many->configuration.columns, few.columns);
  EXPECT_EQ(many->configuration.channelStep, few.channelStep);
  // Others make their sums where a block is.
  Convolution direct = image(256, 256, 14, 3);
  EXPECT_FALSE(chooseForWorkers(direct, amx(), chooseConvolution(direct, amx(), true)));
}

} // namespace
} // namespace tw::target::cpu
