// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/PlainBlocks.h"
#include "Target/NVIDIA/Configuration/Chooser.h"
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::target::nvidia {
namespace {
using conversion::ConfigurationProblem;
using conversion::Subkernel;

std::unique_ptr<const conversion::ConfigurationChooser> chooser() {
  return createNVIDIAChooser(*gpuArchitecture("sm_90a"));
}

/// What is wrong with a configuration, or empty.
std::string violated(const std::vector<kernels::Constraint> &constraints,
                     const kernels::Numbers &fields) {
  const kernels::Constraint *first = firstViolated(constraints, fields);
  return first ? describe(*first, fields) : "";
}

TEST(PlainBlocks, ReasonsAreThoseOfAGPU) {
  Subkernel product{kernels::product(4096, 4096, 64), {}, {}};
  auto constraints = plainConstraints(product);
  kernels::ContractionConfiguration block{.rows = 256, .columns = 256};
  EXPECT_EQ(violated(constraints, numbersOf(block)), "");
  block.rows = 300;
  EXPECT_EQ(violated(constraints, numbersOf(block)),
            "rows * columns * (1 - vectorize_reduction) = 76800 must not be more than 65536: the "
            "threads of a block, 1024 at most, have 8 x 8 sums each in registers");
  block = {.rows = 8, .columns = 128, .vectorizesReduction = true};
  EXPECT_EQ(violated(constraints, numbersOf(block)), "");
  block.rows = 9;
  EXPECT_EQ(violated(constraints, numbersOf(block)),
            "rows * columns * vectorize_reduction = 1152 must not be more than 1024: each sum is "
            "one of the threads of a block, 1024 at most");
}

TEST(PlainBlocks, ATransformedConvolutionHasSixteenProducts) {
  kernels::Convolution spec = kernels::image(64, 128, 56, 3);
  kernels::ConvolutionConfiguration block{.width = 32, .height = 32, .columns = 64};
  EXPECT_EQ(violated(plainConstraints({spec, {}, {}}), numbersOf(block)), "");
  kernels::transformWeights(spec, panelOutputs);
  EXPECT_NE(violated(plainConstraints({spec, {}, {}}), numbersOf(block)), "");
  block.width = 8, block.height = 8;
  EXPECT_EQ(violated(plainConstraints({spec, {}, {}}), numbersOf(block)), "");
}

/// What is chosen fits, and has fields of no other target.
TEST(PlainBlocks, ChoicesAreLegal) {
  auto own = chooser();
  auto check = [&](const Subkernel &kernel, bool isWeight) {
    ConfigurationProblem problem{kernel, isWeight};
    kernels::Configuration chosen = own->choose(problem);
    EXPECT_EQ(chosen.target, "");
    EXPECT_TRUE(chosen.targetFields == kernels::Fields());
    EXPECT_EQ(violated(spaceOf(problem).constraints, chosen.fields.symbols()), "");
    EXPECT_EQ(violated(own->constraints(problem), chosen.fields.symbols()), "");
  };
  for (bool isWeight : {false, true})
    for (bool isTransposed : {false, true})
      for (int64_t rows : {1, 7, 128, 4096})
        for (int64_t columns : {1, 10, 768, 8192})
          check({kernels::product(rows, columns, 1024, isTransposed), {}, {}}, isWeight);
  for (int64_t size : {7, 56, 224})
    for (int64_t window : {1, 3, 5}) {
      check({kernels::image(64, 128, size, window), {}, {}}, true);
      check({kernels::image(3, 64, size, window, 2), {}, {}}, true);
    }
  kernels::Convolution transformed = kernels::image(64, 128, 56, 3);
  kernels::transformWeights(transformed, own->transformedColumns());
  check({transformed, {}, {}}, true);
}

TEST(PlainBlocks, VariantsOfProducts) {
  kernels::Contraction product = kernels::product(64, 768, 768, true);
  Subkernel plain{product, {}, {}};
  EXPECT_EQ(chooser()->variantSizes({plain, true}), (std::vector<int64_t>{1, 2, 4, 6, 16, 64}));
  for (kernels::BufferSpec &buffer : product.buffers)
    if (!buffer.isOutput)
      buffer.dtype = kernel::f16;
  Subkernel onTensorCores{product, {}, {}};
  EXPECT_EQ(chooser()->variantSizes({onTensorCores, true}),
            (std::vector<int64_t>{1, 16, 64, 256, 512}));
}

} // namespace
} // namespace tw::target::nvidia
