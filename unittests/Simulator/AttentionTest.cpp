// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention template on simulated tensor cores: sizes, layouts, masks.
#include "AttentionTruth.h"
#include "Block.h"

using namespace tw;
using namespace tw::kernels;

namespace {

AttentionConfiguration block(int64_t queries, int64_t keys) {
  AttentionConfiguration configuration;
  configuration.queries = queries, configuration.keys = keys;
  return configuration;
}

/// Whether tensor cores did it.
bool runsOnTensorCores(const Case &c, const AttentionConfiguration &configuration) {
  int64_t before = simulator::productsSoFar();
  check(c, configuration);
  return simulator::productsSoFar() > before;
}

TEST(Attention, Full) {
  // One program of two warp groups, which begins and ends with loops of several trips.
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 128, .s = 192, .e = 64, .f = 64, .dtype = kernel::f16}},
      block(128, 64)));
  // Three programs of three, of which the last one ends beyond the queries.
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 400, .s = 256, .e = 64, .f = 64, .dtype = kernel::f16}},
      block(192, 128)));
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 2, .g = 2, .l = 128, .s = 256, .e = 128, .f = 128, .dtype = kernel::bf16}},
      block(128, 128)));
}

} // namespace
