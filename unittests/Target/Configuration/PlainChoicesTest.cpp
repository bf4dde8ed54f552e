// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which blocks the nvidia target chooses for the plain lowering.
#include "GraphToTile/Configuration/Variants.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/PlainCost.h"
#include "Target/NVIDIA/Configuration/PlainLoops.h"
#include "Target/NVIDIA/Configuration/PlainProduct.h"
#include "Target/NVIDIA/Emission/DotBlock.h"
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::target::nvidia {
namespace {
using conversion::ConfigurationProblem;
using conversion::LoopProgram;
using conversion::Statement;
using kernels::ContractionConfiguration;

const GpuArchitecture &hopper = *gpuArchitecture("sm_90a");

ContractionConfiguration chosen(int64_t rows, int64_t columns, int64_t sum, bool isWeight = true) {
  return choosePlainProduct(kernels::product(rows, columns, sum), isWeight, hopper);
}

TEST(PlainProduct, LargeBlocksWhereThereAreManyAndSmallOnesElse) {
  ContractionConfiguration large = chosen(4096, 4096, 4096), few = chosen(512, 768, 768);
  EXPECT_EQ(large.rows * large.columns, 128 * 128);
  EXPECT_FALSE(large.splitsK);
  EXPECT_LT(few.rows * few.columns, 128 * 128);
  EXPECT_GE(512 / few.rows * 768 / few.columns, 64); // programs for half of the multiprocessors
}

TEST(PlainProduct, FewProgramsShareALongSum) {
  ContractionConfiguration block = chosen(16, 512, 8192);
  EXPECT_TRUE(block.splitsK);
  EXPECT_GT(block.kBlock, 0);
  EXPECT_FALSE(chosen(16, 512, 512).splitsK);
  // How many programs there are has to be known: tile-split says so.
  kernels::Contraction unknown = kernels::product(16, 512, 8192);
  unknown.dims[0] = {std::nullopt, "M", 16};
  EXPECT_FALSE(choosePlainProduct(unknown, true, hopper).splitsK);
}

/// The gradient of a filter of `taps` taps, from images of `size` places: a product for each tap,
/// summed over images and places.
kernels::Contraction filterGradient(int64_t images, int64_t size, int64_t taps) {
  constexpr int64_t channels = 64;
  kernels::Contraction spec;
  enum { tap, input, output, image, place };
  spec.dims = {{taps}, {channels}, {channels}, {images}, {size}};
  spec.buffers = {{"x", kernel::f32, {{images}, {size + taps - 1}, {channels}}},
                  {"dy", kernel::f32, {{images}, {size}, {channels}}},
                  {"dw", kernel::f32, {{taps}, {channels}, {channels}}, true}};
  spec.a = {0, {{image}, {place, 0, 1, {}, {{tap, 1}}}, {input}}};
  spec.b = {1, {{image}, {place}, {output}}};
  spec.c = {2, {{tap}, {input}, {output}}};
  return spec;
}

TEST(PlainProduct, FewProgramsShareSeveralSums) {
  kernels::Contraction gradient = filterGradient(32, 3136, 3);
  ContractionConfiguration block = choosePlainProduct(gradient, false, hopper);
  EXPECT_TRUE(block.splitsK);
  // What is read in windows is not transposed.
  EXPECT_EQ(createNVIDIAChooser(hopper)->chooseCut({{gradient, {}, {}}, false}), tile::Cut::None);
}

TEST(PlainProduct, AVectorReadsRowsAsTheyLie) {
  auto own = createNVIDIAChooser(hopper);
  kernels::Contraction vector = kernels::product(1, 4096, 4096);
  conversion::Subkernel given{vector, {}, {}};
  // A weight is transposed when the model is compiled; what calls bring costs more to transpose.
  EXPECT_EQ(own->chooseCut({given, true}), tile::Cut::TransposeRhs);
  EXPECT_EQ(own->chooseCut({given, false}), tile::Cut::None);
  EXPECT_TRUE(
      choosePlainProduct(kernels::product(1, 4096, 4096, /*isTransposed=*/true), true, hopper)
          .vectorizesReduction);
}

TEST(PlainProduct, ColumnsOfManyRowsAreSideBySide) {
  auto own = createNVIDIAChooser(hopper);
  conversion::Subkernel many{kernels::product(4096, 1024, 1024, /*isTransposed=*/true), {}, {}};
  EXPECT_EQ(own->chooseCut({many, false}), tile::Cut::TransposeRhs);
}

/// What is computed for few rows costs less in a block of its own, over the same panels.
TEST(PlainProduct, FewRowsHaveBlocksOfTheirOwn) {
  auto own = createNVIDIAChooser(hopper);
  kernels::Contraction product = kernels::product(64, 4096, 4096);
  for (auto *buffer : {&product.buffers[0], &product.buffers[2]})
    buffer->shape[0] = {std::nullopt, "M"};
  product.dims[0] = {std::nullopt, "M"};
  conversion::Subkernel any{product, {}, {}};
  kernels::Configuration kernel = own->choose({any, true});
  for (int64_t rows : {1, 16}) {
    conversion::Subkernel bounded = conversion::boundedBy(any, rows);
    ConfigurationProblem few{bounded, true, &kernel};
    kernels::Configuration variant = own->choose(few);
    for (const auto &constraints : {spaceOf(few).constraints, own->constraints(few)})
      EXPECT_TRUE(kernels::holds(constraints, variant.symbols())) << rows;
    EXPECT_LT(*own->cost(few, variant), 0.9 * *own->cost(few, kernel)) << rows;
  }
}

TEST(PlainProduct, PartsOfColumnsComeOutEven) {
  kernels::Contraction gates = kernels::product(8, 80, 20);
  gates.columnParts = 4;
  ContractionConfiguration block = choosePlainProduct(gates, true, hopper);
  EXPECT_EQ(block.columnParts, 4);
  EXPECT_EQ(20 % block.columns, 0);
  // So do those of a variant, in the same panels.
  ContractionConfiguration variant = choosePlainVariant(gates, block, hopper);
  EXPECT_EQ(variant.columnParts, 4);
  EXPECT_EQ(variant.columns, block.columns);
}

TEST(PlainConvolution, WeightsAreTransformedWhereThatPaysAndGivenFiltersTransposed) {
  auto own = createNVIDIAChooser(hopper);
  // What Winograd's algorithm saves of deep images is more than it takes beside.
  kernels::Convolution image = kernels::image(256, 256, 14, 3),
                       flat = kernels::image(64, 64, 56, 1);
  EXPECT_EQ(own->chooseCut({{image, {}, {}}, true}), tile::Cut::TransformWeights);
  image.batch = {32}; // sums in several parts take longer than that
  EXPECT_EQ(own->chooseCut({{image, {}, {}}, true}), tile::Cut::None);
  EXPECT_EQ(own->chooseCut({{flat, {}, {}}, true}), tile::Cut::None);
  EXPECT_EQ(own->chooseCut({{kernels::given(image), {}, {}}, false}), tile::Cut::TransposeRhs);
}

/// y = f(x), or with `reduced` the sum along the last dimension.
LoopProgram rows(int64_t count, int64_t length, bool isReduced) {
  LoopProgram program;
  program.dims = {{count}, {length}};
  program.buffers = {{"x", kernel::f32, {{count}, {length}}}, {"y", kernel::f32, {{count}}, true}};
  Statement statement{isReduced ? Statement::Kind::Reduce : Statement::Kind::Map};
  statement.sources = {{{}, {}, kernels::Access{0, {{0}, {1}}}, {}}};
  statement.dims = isReduced ? std::vector<int>{1} : std::vector<int>{};
  statement.results = {isReduced ? std::vector<int>{0} : std::vector<int>{0, 1}};
  program.statements = {statement};
  kernels::Access stored{1, {{0}}};
  if (!isReduced) {
    program.buffers[1].shape.push_back({length});
    stored.axes.push_back({1});
  }
  program.stores = {{{0, 0}, stored}};
  return program;
}

std::vector<int64_t> blocksOf(const LoopProgram &program) {
  std::vector<int64_t> blocks;
  for (const conversion::LoopTiling &tiling : choosePlainLoops(program, hopper).tilings)
    blocks.push_back(tiling.block);
  return blocks;
}

TEST(PlainLoops, ProgramsOfNestsAreLargeWhereThereAreMany) {
  EXPECT_EQ(blocksOf(rows(16384, 4096, false)), (std::vector<int64_t>{1, 4096}));
  EXPECT_EQ(blocksOf(rows(1024, 768, false)), (std::vector<int64_t>{2, 768}));
  EXPECT_EQ(blocksOf(rows(65536, 64, false)), (std::vector<int64_t>{32, 64}));
  std::vector<int64_t> small = blocksOf(rows(128, 256, false));
  EXPECT_LE(small[0] * small[1], 256); // not all in a few programs
}

TEST(PlainLoops, ARowIsAProgram) {
  EXPECT_EQ(blocksOf(rows(4096, 1024, true)), (std::vector<int64_t>{1, 0}));
  EXPECT_FALSE(sharedDim(rows(4096, 1024, true), hopper));
}

/// The sum of each row times so many weights, which are as long as a row.
LoopProgram weighed(int64_t count, int64_t length, int weights, kernel::DType dtype = kernel::f32) {
  LoopProgram program = rows(count, length, true);
  program.buffers[0].dtype = kernel::f16;
  for (int i = 0; i < weights; ++i) {
    program.statements[0].sources.push_back(
        {{}, {}, kernels::Access{int(program.buffers.size()), {{1}}}, {}});
    program.buffers.push_back({"w", dtype, {{length}}});
  }
  return program;
}

TEST(PlainLoops, LongRowsThatShareMuchAreAProgramTogether) {
  constexpr int64_t length = 24576; // of f16: two of two rows each fit beside each other
  const std::vector<int64_t> one{1, 0}, two{2, 0};
  EXPECT_EQ(blocksOf(weighed(4096, length, 2)), two);
  EXPECT_EQ(blocksOf(weighed(4095, length, 2)), one);                  // one is left over
  EXPECT_EQ(blocksOf(weighed(4096, 16384, 2)), one);                   // held in registers
  EXPECT_EQ(blocksOf(weighed(4096, 32768, 2)), one);                   // no room for two
  EXPECT_EQ(blocksOf(weighed(512, length, 2)), one);                   // too few programs
  EXPECT_EQ(blocksOf(weighed(4096, 20480, 2)), one);                   // a block keeps weights
  EXPECT_EQ(blocksOf(weighed(4096, length, 2, kernel::f16)), one);     // the same
  EXPECT_EQ(blocksOf(weighed(4096, length + 2, 2, kernel::f16)), two); // no bulk copies
  EXPECT_EQ(blocksOf(weighed(4096, length, 1, kernel::f16)), one);     // no more than a row
}

TEST(PlainLoops, FewLongRowsAreShared) {
  LoopProgram few = rows(16, 1 << 20, true);
  EXPECT_EQ(sharedDim(few, hopper), 1);
  EXPECT_GT(choosePlainLoops(few, hopper).tilings[1].chunk, 0);
}

TEST(DotBlock, TermsFillTheRegistersBesideSums) {
  EXPECT_EQ(termsTogether({8, 8}, 512, 1, 256), 4);
  EXPECT_EQ(termsTogether({8, 8}, 512, 2, 256), 1); // sums of f64
  EXPECT_EQ(termsTogether({1, 1}, 512, 1, 256), 8);
  EXPECT_EQ(termsTogether({4, 4}, 512, 1, 1024), 1); // a thread has 64 registers
  EXPECT_EQ(termsTogether({1, 1}, 3, 1, 32), 2);     // no more than there are
  EXPECT_EQ(termsTogether({1, 1}, std::nullopt, 1, 256), 8);
}

TEST(PlainCost, TimesGrowWithWorkAndWaiting) {
  ProgramCost cost{.block = {256, 1}, .registers = 64};
  cost.instructions = 1e6, cost.waiting = 1e4;
  double one = cyclesOfLaunch(cost, 132, 1, hopper);
  EXPECT_GT(cyclesOfLaunch(cost, 133, 1, hopper), 1.5 * one); // a second program on one of them
  cost.waiting = 1e7;
  EXPECT_GT(cyclesOfLaunch(cost, 132, 1, hopper), 10 * one);
}

TEST(PlainCost, ShortRowsShareWhatABlockTakesToBegin) {
  ProgramCost own{.block = {32, 1}}, beside{.block = {32, 8}};
  EXPECT_GT(cyclesOfLaunch(own, 1 << 16, 1, hopper),
            2 * cyclesOfLaunch(beside, 1 << 16, 1, hopper));
}

TEST(PlainCost, ScratchBeyondSharedMemoryIsSlow) {
  ProgramCost cost{.block = {256, 1}, .sharedBytes = 64 << 10};
  cost.scratch = 1e4;
  double inShared = cyclesOfLaunch(cost, 1000, 1, hopper);
  cost.sharedBytes = 160 << 10;
  EXPECT_GT(cyclesOfLaunch(cost, 1000, 1, hopper), 3 * inShared);
}

TEST(PlainCost, PartsAreThoseOfTileSplit) {
  EXPECT_EQ(partsOf(132, 1000, 1 << 20, hopper), 1); // enough programs
  EXPECT_EQ(partsOf(66, 1000, 1 << 20, hopper), 8);  // as many as are wanted
  EXPECT_EQ(partsOf(66, 4, 1 << 20, hopper), 4);     // a trip each
  EXPECT_EQ(partsOf(66, 1000, 1, hopper), 1);        // too little to do
}

} // namespace
} // namespace tw::target::nvidia
