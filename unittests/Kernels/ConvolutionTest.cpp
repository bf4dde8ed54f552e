// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::kernels {
namespace {

TEST(Convolution, Refusals) {
  Convolution spec = image(3, 8, 9, 3);
  EXPECT_EQ(refuse(spec), "");
  spec.isChannelsFirst = true;
  EXPECT_EQ(refuse(spec), "");
  spec.isTransposed = true;
  EXPECT_EQ(refuse(spec), "channels come first, in groups or transposed");
  spec = image(3, 8, 9, 3);
  spec.spatial[0].output = {0};
  EXPECT_EQ(refuse(spec), "it has no elements");
}

TEST(Convolution, Texts) {
  // Panels of 32 outputs; lines of taps in a loop, those of one line one after the other.
  std::string packed = traced(image(64, 64, 56, 3), {.width = 14, .columns = 32, .isPacked = true});
  EXPECT_NE(packed.find("in %w: !tile.buffer<[2, 3, 3, 64, 32], f32>"), std::string::npos)
      << packed;
  EXPECT_NE(packed.find("tile.for"), std::string::npos);
  // Channels along vectors: nothing is multiplied by a matrix.
  std::string depthwise = traced(image(1, 1, 14, 3, 1, 64), {.width = 7});
  EXPECT_EQ(depthwise.find("tile.dot"), std::string::npos);
  EXPECT_NE(depthwise.find("math.fma"), std::string::npos) << depthwise;
}

TEST(Convolution, ConfigurationsThatAreNot) {
  Convolution spec = image(64, 96, 14, 3);
  ConvolutionConfiguration block{.width = 14, .columns = 32, .isPacked = true};
  auto isLegal = [&](auto change) {
    ConvolutionConfiguration changed = block;
    change(changed);
    return holds(convolutionConstraints(spec), numbersOf(changed));
  };
  EXPECT_TRUE(isLegal([](auto &) {}));
  EXPECT_EQ(convolutionFrom(numbersOf(block)), block);
  EXPECT_FALSE(isLegal([](auto &c) { c.width = 15; }));       // than the image has
  EXPECT_FALSE(isLegal([](auto &c) { c.columns = 64; }));     // panels would not come out even
  EXPECT_FALSE(isLegal([](auto &c) { c.channelStep = 32; })); // of a block in registers
  EXPECT_TRUE(isLegal([](auto &c) { c.channelStep = 32, c.inScratch = true; }));
  EXPECT_FALSE(isLegal([](auto &c) { c.channelStep = 24, c.inScratch = true; }));
  spec = image(8, 24, 14, 3, 1, 4);
  block.isPacked = false;
  EXPECT_FALSE(isLegal([](auto &c) { c.columns = 16; })); // of two groups
  EXPECT_TRUE(isLegal([](auto &c) { c.columns = 12; }));
}

TEST(Convolution, TransformedWeights) {
  Convolution spec = image(64, 128, 14, 3);
  ASSERT_TRUE(canBeWinograd(spec, 64));
  EXPECT_FALSE(canBeWinograd(image(64, 96, 14, 3), 64)); // no whole panels
  EXPECT_TRUE(canBeWinograd(image(64, 96, 14, 3), 32));
  EXPECT_FALSE(canBeWinograd(image(64, 64, 14, 5), 64));
  EXPECT_FALSE(canBeWinograd(image(64, 64, 14, 3, 2), 64));
  WinogradWeights weights = transformWeights(spec, 64);
  EXPECT_FALSE(canBeWinograd(spec, 64)); // a second time
  EXPECT_EQ(weights.buffers[1].shape, (std::vector<Extent>{{2}, {16}, {64}, {64}}));
  ConvolutionConfiguration block{.width = 7, .height = 7, .columns = 64, .channelStep = 32};
  EXPECT_TRUE(holds(convolutionConstraints(spec), numbersOf(block)));
  block.columns = 32;
  EXPECT_FALSE(holds(convolutionConstraints(spec), numbersOf(block)));
}

TEST(Convolution, TransformedProductsAreSummedInShortParts) {
  EXPECT_EQ(transformedChannelStep(64), 0);
  EXPECT_EQ(transformedChannelStep(512), 64);
  EXPECT_EQ(transformedChannelStep(100), 50);
  EXPECT_TRUE(canBeWinograd(image(100, 64, 14, 3), 64));
  EXPECT_FALSE(canBeWinograd(image(67, 64, 14, 3), 64)); // parts of one channel
  Convolution spec = image(128, 64, 14, 3);
  transformWeights(spec, 64);
  ConvolutionConfiguration block{.width = 7, .height = 7, .columns = 64, .channelStep = 64};
  EXPECT_TRUE(holds(convolutionConstraints(spec), numbersOf(block)));
  for (int64_t step : {0, 128}) {
    block.channelStep = step;
    EXPECT_FALSE(holds(convolutionConstraints(spec), numbersOf(block))) << step;
  }
}

} // namespace
} // namespace tw::kernels
