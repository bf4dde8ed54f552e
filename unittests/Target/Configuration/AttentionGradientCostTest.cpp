// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels and blocks the cpu target chooses for the gradients of attention.
#include "Target/CPU/Configuration/AttentionGradientCost.h"
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>

namespace tw::target::cpu {
namespace {

using kernels::Extent;

constexpr VectorUnit avx2{8, 16}, avx512{16, 32};

/// Of [b, g, l, e] over [b, s, e] and [b, s, e].
AttentionGradient heads(int64_t b, int64_t g, const Extent &l, const Extent &s, int64_t e) {
  AttentionGradient spec;
  spec.dims = {{b}, {g}, l, s, {e}, {e}};
  spec.queries = 2, spec.keys = 3, spec.depth = 4, spec.width = 5;
  auto add = [&](const char *name, const std::vector<int> &dims, bool isOutput = false) {
    kernels::Access access{int(spec.buffers.size()), {}};
    spec.buffers.push_back({name, kernel::f32, {}, isOutput});
    for (int dim : dims)
      access.axes.push_back({dim}), spec.buffers.back().shape.push_back(spec.dims[size_t(dim)]);
    return access;
  };
  spec.query = add("q", {0, 1, 2, 4}), spec.key = add("k", {0, 3, 4});
  spec.value = add("v", {0, 3, 5}), spec.outputGradient = add("go", {0, 1, 2, 5});
  spec.logSumExp = add("lse", {0, 1, 2}), spec.delta = add("delta", {0, 1, 2});
  spec.queryGradient = add("dq", {0, 1, 2, 4}, true);
  spec.keyGradient = add("dk", {0, 3, 4}, true), spec.valueGradient = add("dv", {0, 3, 5}, true);
  return spec;
}

void isLegal(const AttentionGradient &spec, const VectorUnit &unit) {
  auto chosen = chooseAttentionGradient(spec, unit);
  EXPECT_TRUE(holds(attentionGradientConstraints(spec), numbersOf(chosen)));
  EXPECT_GT(attentionGradientCost(spec, chosen, unit), 0);
  std::string text = kernels::tracedBy([&] { writeAttentionGradient(spec, chosen); });
  EXPECT_NE(text.find("tile.store"), std::string::npos) << text;
}

TEST(CPUAttentionGradient, EveryChoiceIsLegalAndCanBeWritten) {
  for (const VectorUnit &unit : {avx2, avx512})
    for (const Extent &l : {Extent{1}, {3}, {197}, {2048}, {std::nullopt, "L"}})
      for (const Extent &s : {Extent{1}, {77}, {128}, {50000}, {std::nullopt, "S"}})
        for (int64_t g : {1, 4})
          for (int64_t e : {1, 64})
            for (bool isCausal : {false, true}) {
              AttentionGradient spec = heads(2, g, l, s, e), ofQueries = spec, ofKeys = spec;
              for (AttentionGradient *each : {&spec, &ofQueries, &ofKeys})
                each->isCausal = isCausal;
              ofQueries.keyGradient.reset(), ofQueries.valueGradient.reset();
              ofKeys.queryGradient.reset();
              dropUnusedBuffers(ofQueries), dropUnusedBuffers(ofKeys);
              isLegal(ofQueries, unit);
              isLegal(ofKeys, unit);
              if (!areGradientsCheaperApart(spec, unit))
                isLegal(spec, unit);
            }
}

TEST(CPUAttentionGradient, OneKernelOrTwo) {
  auto areApart = [](AttentionGradient spec, bool isCausal = false) {
    spec.isCausal = isCausal;
    return areGradientsCheaperApart(spec, avx512);
  };
  // Five products instead of seven, as long as what is summed stays near.
  EXPECT_FALSE(areApart(heads(12, 1, {128}, {128}, 64)));
  EXPECT_FALSE(areApart(heads(20, 1, {1024}, {1024}, 64)));
  EXPECT_TRUE(areApart(heads(20, 1, {8192}, {8192}, 64)));
  // One kernel would compute what no query sees.
  EXPECT_TRUE(areApart(heads(8, 1, {2048}, {2048}, 64), true));
  EXPECT_FALSE(areApart(heads(16, 1, {128}, {128}, 64), true));
  // Two heads are too few programs.
  EXPECT_TRUE(areApart(heads(2, 1, {1024}, {1024}, 64)));
  EXPECT_TRUE(areApart(heads(20, 1, {1024}, {std::nullopt, "S"}, 64)));
}

TEST(CPUAttentionGradient, FewKeysOfManyQueriesAreShared) {
  AttentionGradient spec = heads(2, 4, {4096}, {64}, 64);
  spec.queryGradient.reset();
  EXPECT_TRUE(chooseAttentionGradient(spec, avx512).splitsLoop);
}

} // namespace
} // namespace tw::target::cpu
