// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Configuration/ConvolutionCost.h"
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::target::cpu {
namespace {
using kernels::image;
using kernels::traced;

constexpr VectorUnit avx2{8, 16}, avx512{16, 32};

TEST(CPUConvolution, ChosenConfigurationsAreLegalAndCanBeWritten) {
  for (const VectorUnit &unit : {avx2, avx512})
    for (int64_t channels : {1, 3, 64, 511})
      for (int64_t outputs : {1, 2, 24, 37, 64, 512})
        for (int64_t size : {1, 5, 7, 56})
          for (int64_t groups : {1, 2, 32})
            for (bool packed : {false, true}) {
              Convolution spec = image(channels, outputs, size, 3, 1, groups);
              auto chosen = chooseConvolution(spec, unit, packed);
              std::string what = traced(spec, chosen);
              EXPECT_TRUE(isLegal(spec, chosen, unit))
                  << channels << " -> " << outputs << " in " << groups << " groups of " << size;
              EXPECT_NE(what.find("tile.store"), std::string::npos) << what;
            }
}

TEST(CPUConvolution, BlocksThatFillRegisters) {
  auto chosen = chooseConvolution(image(32, 64, 56, 3), avx512, true);
  EXPECT_TRUE(chosen.isPacked);
  EXPECT_FALSE(chosen.inScratch);
  EXPECT_GE(chosen.width * chosen.height * chosen.columns, 16 * 16);
  EXPECT_EQ(chosen.columns % 16, 0);
  // All lines of a small image: its columns alone do not fill a block.
  EXPECT_GT(chooseConvolution(image(64, 64, 4, 3), avx512, true).height, 1);
}

/// What programs do beside their steps is for larger blocks; what is copied at the ends of lines,
/// and that the largest blocks are stored between lines of taps, for smaller ones.
TEST(CPUConvolution, WhatIsDoneBesideTheSteps) {
  using Block = std::pair<int64_t, int64_t>; // places and columns
  auto chosen = [](const Convolution &spec, const VectorUnit &unit = avx512) {
    auto block = chooseConvolution(spec, unit, true);
    EXPECT_FALSE(block.inScratch);
    return Block(block.width * block.height, block.columns);
  };
  EXPECT_EQ(chosen(image(16, 48, 16, 3, 2)), Block(8, 48));   // not 4: all 8 of a line
  EXPECT_EQ(chosen(image(32, 32, 28, 5)), Block(7, 32));      // not 14
  EXPECT_EQ(chosen(image(96, 192, 28, 3, 2)), Block(14, 32)); // more steps to a line of taps
  // Eight sums are hardly enough to hide how long each addition takes.
  EXPECT_GT(chosen(image(32, 64, 28, 3), avx2).first, 4); // although 28 are 7 of 4
}

TEST(CPUConvolution, ASmallImageLiesInRegistersOrInScratch) {
  // Weights in the second-level cache are read from it beside the products; for others the first
  // program of a panel would wait.
  EXPECT_FALSE(chooseConvolution(image(128, 128, 7, 3), avx512, true).inScratch);
  EXPECT_FALSE(chooseConvolution(image(32, 64, 56, 3), avx512, true).inScratch);
  EXPECT_TRUE(chooseConvolution(image(512, 512, 7, 3), avx512, true).inScratch);
  EXPECT_TRUE(chooseConvolution(image(4096, 1024, 7, 3), avx512, true).inScratch);
}

TEST(CPUConvolution, NoMoreRowsThanWaysOfASetOfTheCache) {
  // Of 512 channels, every second place is 4096 bytes further; of 480 they spread over all sets.
  EXPECT_LE(chooseConvolution(image(512, 256, 28, 1, 2), avx512, true).width, 8);
  Convolution spec = image(512, 256, 28, 1, 2), spread = image(480, 256, 28, 1, 2);
  auto narrow = chooseConvolution(spec, avx512, true), wide = narrow;
  wide.width = 14;
  EXPECT_LT(convolutionCost(spec, narrow, avx512), 0.87 * convolutionCost(spec, wide, avx512));
  EXPECT_NEAR(convolutionCost(spread, wide, avx512) / convolutionCost(spread, narrow, avx512), 1,
              0.05);
}

TEST(CPUConvolution, BlocksOfWeightsInScratchAreLargeEnoughToBePrefetched) {
  Convolution spec = image(512, 512, 14, 3);
  kernels::transformWeights(spec, panelOutputs);
  auto chosen = chooseConvolution(spec, avx512);
  EXPECT_EQ(chosen.channelStep * chosen.columns * 4, 16 << 10); // more would not be exact enough
  auto small = chosen;
  small.channelStep = 32;
  EXPECT_LT(convolutionCost(spec, chosen, avx512), convolutionCost(spec, small, avx512));
}

TEST(CPUConvolution, DepthwiseWalksOverChannelsWhereImagesAreLarge) {
  EXPECT_FALSE(chooseConvolution(image(1, 1, 56, 3, 1, 64), avx512).outputsOutermost);
  EXPECT_TRUE(chooseConvolution(image(1, 1, 7, 3, 1, 64), avx512).outputsOutermost);
}

TEST(CPUConvolution, DepthwisePartsOfLinesAreLongWhereThereAreManyRegisters) {
  EXPECT_EQ(chooseConvolution(image(1, 1, 14, 3, 1, 64), avx512).width, 14);
  EXPECT_EQ(chooseConvolution(image(1, 1, 56, 3, 1, 64), avx512).width, 14);
  EXPECT_EQ(chooseConvolution(image(1, 1, 14, 3, 1, 64), avx2).width, 7);
  EXPECT_LE(chooseConvolution(image(1, 1, 56, 3, 2, 64), avx512).width, 8); // it skips places
}

TEST(CPUConvolution, ImagesHaveFewPlacesInABlock) {
  for (int64_t stride : {1, 2}) {
    auto chosen = chooseConvolution(image(3, 32, 224, 3, stride), avx512, true);
    EXPECT_LE(chosen.width * chosen.height, 8);
    EXPECT_GE(chosen.width * chosen.height, 7);
  }
}

TEST(CPUConvolution, NoProgramOfAnImageEndsBeyondItsLine) {
  // Six places are more products for each load, but 112 are none of them: the last program would
  // look at each element that it reads.
  EXPECT_EQ(112 % chooseConvolution(image(3, 64, 224, 7, 2), avx2, true).width, 0);
}

TEST(CPUConvolution, ColumnsShareInputsInScratchWithNarrowVectors) {
  // Of two vectors each, 32 programs would copy the inputs.
  EXPECT_EQ(chooseConvolution(image(512, 512, 7, 3), avx2, true).columns, 32);
}

TEST(CPUConvolution, WindowsOf3x3ByWinograd) {
  Convolution spec = image(64, 64, 56, 3);
  EXPECT_TRUE(isTransformProfitable(spec, avx512, true));
  EXPECT_TRUE(isTransformProfitable(image(64, 64, 500, 3), avx2, true));
  EXPECT_TRUE(isTransformProfitable(image(512, 512, 7, 3), avx512, true));
  EXPECT_FALSE(isTransformProfitable(image(32, 64, 56, 3), avx512, true));  // few channels
  EXPECT_FALSE(isTransformProfitable(image(512, 512, 6, 3), avx512, true)); // few places
  kernels::transformWeights(spec, panelOutputs);
  auto chosen = chooseConvolution(spec, avx512);
  EXPECT_TRUE(isLegal(spec, chosen, avx512));
  EXPECT_GE(chosen.width * chosen.height, 14);
}

/// Blocks of 64 columns would be 8 programs for 16 workers.
TEST(CPUConvolution, NarrowBlocksKeepMoreWorkersBusy) {
  auto chosen = chooseConvolution(image(512, 512, 7, 3), avx512, true);
  EXPECT_TRUE(chosen.inScratch);
  EXPECT_EQ(chosen.columns, 32);
  EXPECT_EQ(chooseConvolution(image(512, 1024, 7, 3), avx512, true).columns, 64); // 16 already
}

TEST(CPUConvolution, WeightsAreTransformedAtRunTimeWhereManyPlacesReadThem) {
  EXPECT_TRUE(isTransformProfitable(image(64, 64, 56, 3), avx512, false));
  EXPECT_TRUE(isTransformProfitable(image(256, 256, 14, 3), avx512, false));
  EXPECT_FALSE(isTransformProfitable(image(512, 512, 7, 3), avx512, false));
  // Where products save less than the transform takes, it is for known weights alone.
  EXPECT_TRUE(isTransformProfitable(image(256, 256, 9, 3), avx512, true));
  EXPECT_FALSE(isTransformProfitable(image(256, 256, 9, 3), avx512, false));
}

TEST(CPUConvolution, FiltersAreTransposedOnceForManyPlaces) {
  auto transposes = [](Convolution spec, int64_t images) {
    spec.batch = {images};
    return isFilterTransposeProfitable(kernels::given(spec), avx512);
  };
  EXPECT_FALSE(transposes(image(512, 512, 14, 3, 2), 1));
  EXPECT_TRUE(transposes(image(512, 512, 14, 3, 2), 64));
  EXPECT_FALSE(transposes(image(1024, 2048, 14, 1, 2), 1));
  EXPECT_TRUE(transposes(image(256, 512, 56, 1, 2), 1)); // every block copies what no cache holds
  EXPECT_TRUE(transposes(image(512, 512, 14, 7, 2), 1)); // too many taps
  EXPECT_TRUE(transposes(image(512, 500, 14, 3, 2), 1)); // no whole blocks of outputs
  Convolution spec = image(512, 512, 14, 3, 2);
  EXPECT_FALSE(isFilterTransposeProfitable(spec, avx512)); // they are so
  for (int64_t size : {1, 7, 15, 400}) {
    spec = kernels::given(image(96, 128, size, 3));
    EXPECT_TRUE(isLegal(spec, chooseConvolution(spec, avx512), avx512)) << size;
  }
}

TEST(CPUConvolution, ConfigurationsThatAreNot) {
  Convolution spec = image(32, 96, 14, 3);
  ConvolutionConfiguration chosen = chooseConvolution(spec, avx512, true);
  EXPECT_TRUE(isLegal(spec, chosen, avx512));
  EXPECT_FALSE(isLegal(spec, chosen, {1, 16})); // too large a block
  chosen.width = 0;
  EXPECT_FALSE(isLegal(spec, chosen, avx512));
}

} // namespace
} // namespace tw::target::cpu
