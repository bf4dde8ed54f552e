// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Configuration/ProductCost.h"
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::target::nvidia {
namespace {

const GpuArchitecture &hopper() { return *gpuArchitecture("sm_90a"); }

Contraction halves(int64_t m, int64_t n, int64_t k, bool isTransposed = false) {
  Contraction spec = kernels::product(m, n, k, isTransposed);
  for (kernels::BufferSpec &buffer : spec.buffers)
    if (!buffer.isOutput)
      buffer.dtype = kernel::f16;
  return spec;
}

TEST(ProductCost, ConfigurationsAreLegal) {
  for (int64_t m : {2, 5, 128, 1000, 8192})
    for (int64_t n : {8, 64, 136, 768, 10240})
      for (int64_t k : {8, 16, 32, 40, 64, 72, 1280})
        for (bool isTransposed : {false, true}) {
          Contraction spec = halves(m, n, k, isTransposed);
          ASSERT_TRUE(isForTensorCores(spec)) << m << " " << n << " " << k;
          ProductConfiguration chosen = chooseProduct(spec, hopper());
          EXPECT_TRUE(isLegal(spec, chosen, hopper())) << m << " " << n << " " << k;
          EXPECT_GT(productCost(spec, chosen, hopper()), 0);
        }
}

TEST(ProductCost, SizesKnownOnlyAtTheCall) {
  for (int dim = 0; dim < 3; ++dim)
    for (bool isTransposed : {false, true}) {
      Contraction spec = halves(1000, 768, 1280, isTransposed);
      kernels::Extent known = spec.dims[size_t(dim)];
      for (kernels::BufferSpec &buffer : spec.buffers)
        for (kernels::Extent &extent : buffer.shape)
          if (extent == known)
            extent = {std::nullopt, "N"};
      spec.dims[size_t(dim)] = {std::nullopt, "N"};
      ASSERT_TRUE(isForTensorCores(spec)) << dim;
      EXPECT_TRUE(isLegal(spec, chooseProduct(spec, hopper()), hopper())) << dim;
    }
}

TEST(ProductCost, WhatTheTensorCoresCannotTake) {
  EXPECT_FALSE(isForTensorCores(kernels::product(128, 128, 128))); // f32
  EXPECT_FALSE(isForTensorCores(halves(128, 128, 132)));           // rows of 264 bytes
  EXPECT_FALSE(isForTensorCores(halves(128, 130, 128)));
  EXPECT_FALSE(isForTensorCores(halves(1, 128, 128)));
  EXPECT_TRUE(isForTensorCores(halves(128, 130, 128, true))); // b is [130, 128]
  EXPECT_FALSE(isForTensorCores(halves(128, 128, 0, true)));
  Contraction mixed = halves(128, 128, 128);
  mixed.buffers[1].dtype = kernel::bf16;
  EXPECT_FALSE(isForTensorCores(mixed));
}

TEST(ProductCost, WarpGroupsInTurns) {
  Contraction spec = halves(2048, 1280, 1280, true);
  ProductConfiguration tried = chooseProduct(spec, hopper());
  tried.block.rows = 128, tried.block.columns = 160;
  tried.pipeline = {5, 2, /*isPingPong=*/true};
  EXPECT_TRUE(isLegal(spec, tried, hopper()));
  tried.pipeline = {5, 1, /*isPingPong=*/true};
  EXPECT_FALSE(isLegal(spec, tried, hopper()));
  tried.pipeline = {5, 2, /*isPingPong=*/true};
  tried.block.columns = 192; // which go out in narrower pieces
  EXPECT_TRUE(isLegal(spec, tried, hopper()));
  tried.pipeline.stages = 3;
  tried.block.columns = 224; // 224 sums a thread
  EXPECT_FALSE(isLegal(spec, tried, hopper()));
}

/// The end of one program hides behind the products of the next where a multiprocessor has several
/// short ones.
TEST(ProductCost, TurnsWhereTheyPay) {
  auto takesTurns = [](int64_t m, int64_t n, int64_t k) {
    return chooseProduct(halves(m, n, k, true), hopper()).pipeline.isPingPong;
  };
  EXPECT_TRUE(takesTurns(8192, 5120, 640));
  EXPECT_TRUE(takesTurns(2048, 10240, 1280));
  EXPECT_FALSE(takesTurns(2048, 1280, 1280)); // one program each
  EXPECT_FALSE(takesTurns(4096, 4096, 4096)); // larger blocks read less
}

/// Rows of programs that run at one time: all of few.
TEST(ProductCost, RowsThatShareOperands) {
  auto rowPrograms = [](int64_t m) {
    return chooseProduct(halves(m, 10240, 1280, true), hopper()).block.rowPrograms;
  };
  EXPECT_EQ(rowPrograms(2048), 16);
  EXPECT_EQ(rowPrograms(8192), 8);
}

TEST(ProductCost, TF32) {
  for (int64_t m : {2, 128, 1000, 8192})
    for (int64_t n : {7, 64, 768, 10240})
      for (int64_t k : {4, 8, 36, 1280}) {
        Contraction spec = kernels::product(m, n, k, /*isTransposed=*/true);
        EXPECT_FALSE(isForTensorCores(spec));
        ASSERT_TRUE(isForTensorCores(spec, Precision::TF32)) << m << " " << n << " " << k;
        EXPECT_TRUE(isLegal(spec, chooseProduct(spec, hopper()), hopper())) << n << " " << k;
      }
  Contraction asStored = kernels::product(128, 64, 256); // b is [K, N]
  EXPECT_FALSE(isForTensorCores(asStored, Precision::TF32));
  EXPECT_TRUE(isForTensorCoresTransposed(asStored, Precision::TF32));
  EXPECT_FALSE(isForTensorCoresTransposed(asStored, Precision::F32));
}

/// One program for each multiprocessor is better than two for some.
TEST(ProductCost, BlocksFillTheGpu) {
  auto programs = [](int64_t m, int64_t n, const ProductConfiguration &chosen) {
    return (m + chosen.block.rows - 1) / chosen.block.rows *
           ((n + chosen.block.columns - 1) / chosen.block.columns);
  };
  for (auto [m, n, k] : {std::array<int64_t, 3>{2048, 1280, 1280}, {2048, 1280, 5120}}) {
    int64_t count = programs(m, n, chooseProduct(halves(m, n, k, true), hopper()));
    EXPECT_LE(count, hopper().multiprocessors);
    EXPECT_GE(count, hopper().multiprocessors * 9 / 10);
  }
  auto large = chooseProduct(halves(8192, 8192, 8192, true), hopper());
  EXPECT_GE(large.block.rows * large.block.columns, 128 * 192);
}

/// Few programs with a long sum share it, in parts of which each has terms; many do not, nor such
/// whose number only the call tells.
TEST(ProductCost, SumsInParts) {
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{64, 1280, 10240}, {128, 640, 16384}, {16, 512, 8192}}) {
    Contraction spec = halves(m, n, k, true);
    ProductConfiguration chosen = chooseProduct(spec, hopper()), whole = chosen;
    EXPECT_GT(chosen.parts, 1) << m << " " << n << " " << k;
    EXPECT_TRUE(chosen.block.splitsK);
    int64_t programs = (m + chosen.block.rows - 1) / chosen.block.rows *
                       ((n + chosen.block.columns - 1) / chosen.block.columns);
    EXPECT_LE(programs * chosen.parts, hopper().multiprocessors);
    whole.block.splitsK = false;
    EXPECT_TRUE(isLegal(spec, whole, hopper()));
    EXPECT_GT(productCost(spec, whole, hopper()), productCost(spec, chosen, hopper()));
    for (int64_t parts : {1, 17}) { // a loop that may be split has some, which one launch combines
      ProductConfiguration wrong = chosen;
      wrong.parts = parts;
      EXPECT_FALSE(isLegal(spec, wrong, hopper()));
    }
  }
  EXPECT_EQ(chooseProduct(halves(2048, 1280, 1280, true), hopper()).parts, 1);
  EXPECT_EQ(chooseProduct(halves(64, 1280, 64, true), hopper()).parts, 1);
  Contraction unknown = halves(64, 1280, 10240, true);
  unknown.dims[0] = {std::nullopt, "M"};
  EXPECT_EQ(chooseProduct(unknown, hopper()).parts, 1);
}

/// Of up to 16 rows, TMA brings no more than these; and blocks are so small that there is one for
/// about each multiprocessor.
TEST(ProductCost, FewRows) {
  Contraction known = halves(16, 4096, 11008, true), unknown = known, more = known;
  unknown.dims[0] = {std::nullopt, "M", 16};
  more.dims[0] = {std::nullopt, "M", 64};
  for (const Contraction &spec : {known, unknown}) {
    ProductConfiguration chosen = chooseProduct(spec, hopper());
    EXPECT_EQ(chosen.block.rows, 16);
    EXPECT_EQ(chosen.block.columns, 32);
    EXPECT_TRUE(isLegal(spec, chosen, hopper()));
    chosen.block.rows = 24; // may be, but takes longer
    EXPECT_TRUE(isLegal(spec, chosen, hopper()));
    chosen.block.rows = 72;
    EXPECT_FALSE(isLegal(spec, chosen, hopper()));
    chosen.block.rows = 16, chosen.pipeline.warpGroups = 2;
    EXPECT_FALSE(isLegal(spec, chosen, hopper()));
  }
  EXPECT_EQ(chooseProduct(more, hopper()).block.rows, 64);

  PipelineConfiguration pipeline{4, 1};
  std::optional<ProductPlan> plan =
      planProduct({64, 32, 128, true, true, 2, /*tileRows=*/16}, pipeline, hopper());
  EXPECT_EQ(plan->a.loadedBytes(), 16 * 128 * 2);
  EXPECT_EQ(plan->a.bytes(), 64 * 128 * 2);
  plan = planProduct({64, 32, 128, false, true, 2, /*tileRows=*/16}, pipeline, hopper());
  EXPECT_EQ(plan->a.loadedBytes(), 64 * 128 * 2); // along which chunks of 64 lie
}

TEST(ProductCost, WhatDoesNotFitIsRefused) {
  Contraction spec = halves(2048, 2048, 2048, true);
  ProductConfiguration legal = chooseProduct(spec, hopper()), wrong = legal;
  wrong.pipeline.stages = 8; // 8 stages of 32 kB and more
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal;
  wrong.block.rows = 96;
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
  wrong = legal;
  wrong.block.rows = wrong.block.columns = 256; // 256 sums a thread
  EXPECT_FALSE(isLegal(spec, wrong, hopper()));
}

} // namespace
} // namespace tw::target::nvidia
