// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention template beside loops in double precision: interpreted, and compiled by the cpu
// target, in the configuration that is chosen and in others.
#include "AttentionCase.h"
#include "Language/Trace.h"
#include "Target/CPU/Configuration/AttentionCost.h"
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::kernels;

namespace {

/// -> output [b, l, g, f], log of sums [b, g, l].
struct Case : AttentionCase {
  Attention spec() const {
    Attention spec;
    describeInputs(spec);
    spec.output = add(spec, "o", dtype, {0, 2, 1, 5}, true);
    if (hasSums)
      spec.logSumExp = add(spec, "sums", spec.sum, {0, 1, 2}, true);
    return spec;
  }
};

struct Truth {
  std::vector<double> output, sums;
};

Truth truthOf(const Case &c, const std::vector<HostTensor> &in) {
  Truth truth{std::vector<double>(size_t(c.b * c.l * c.g * c.f)),
              std::vector<double>(size_t(c.b * c.g * c.l))};
  for (int64_t b = 0; b < c.b; ++b)
    for (int64_t g = 0; g < c.g; ++g)
      for (int64_t l = 0; l < c.l; ++l) {
        std::vector<double> scores = c.scores(in, b, g, l);
        double sums = truth.sums[size_t((b * c.g + g) * c.l + l)] = logSumExp(scores);
        for (int64_t f = 0; f < c.f; ++f) {
          double &output = truth.output[size_t(((b * c.l + l) * c.g + g) * c.f + f)];
          for (int64_t s = 0; s < c.s && sums != -INFINITY; ++s)
            output += std::exp(scores[size_t(s)] - sums) * at(in[2], (b * c.s + s) * c.f + f);
        }
      }
  return truth;
}

void check(const Case &c, const AttentionConfiguration &configuration) {
  Attention spec = c.spec();
  ASSERT_TRUE(holds(attentionConstraints(spec), numbersOf(configuration)));
  std::vector<HostTensor> inputs;
  for (const BufferSpec &buffer : spec.buffers)
    if (!buffer.isOutput)
      inputs.push_back(randomTensor(buffer, int(inputs.size()) + 3));
  Truth truth = truthOf(c, inputs);
  auto trace = kernel::trace("k", [&] { writeAttention(spec, configuration); });
  ASSERT_FALSE(trace.error) << trace.error->message;
  std::string text = withoutDestinations(trace.text);
  target::CompiledKernel kernel(text);
  EXPECT_EQ(kernel.findings(inputs), "") << text;
  double tolerance = c.dtype == kernel::f32 || c.dtype == kernel::f64 ? 2e-6 : 1e-2;
  for (bool isCompiled : {false, true}) {
    std::vector<HostTensor> results = isCompiled ? kernel.run(inputs) : kernel.interpret(inputs);
    for (size_t number = 0; number < results.size(); ++number) {
      const std::vector<double> &wanted = number == 0 ? truth.output : truth.sums;
      ASSERT_EQ(size_t(results[number].count()), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i)
        if (double got = at(results[number], int64_t(i)); got != wanted[i])
          ASSERT_NEAR(got, wanted[i], tolerance) << (isCompiled ? "compiled, " : "interpreted, ")
                                                 << "result " << number << ", element " << i << "\n"
                                                 << text;
    }
  }
}

/// In blocks that are even and that are not, transposed, split; and as chosen.
void checkAll(const Case &c) {
  Attention spec = c.spec();
  for (target::cpu::VectorUnit unit : {target::cpu::VectorUnit{16, 32}, {8, 16}})
    check(c, target::cpu::chooseAttention(spec, unit));
  for (bool isTransposed : {false, true})
    for (bool splitsKeys : {false, true}) {
      AttentionConfiguration block{.queries = std::min<int64_t>(c.l, 8),
                                   .keys = std::min<int64_t>(c.s, 6),
                                   .groups = c.g % 2 == 0 ? 2 : 1};
      block.isTransposed = isTransposed, block.splitsKeys = splitsKeys;
      check(c, block);
    }
}

TEST(AttentionKernel, Full) {
  checkAll({{.b = 2, .g = 1, .l = 19, .s = 24, .e = 8, .f = 16}});
  checkAll({{.b = 1, .g = 1, .l = 5, .s = 37, .e = 7, .f = 3, .hasSums = true}});
}

TEST(AttentionKernel, OneQueryOneKey) {
  checkAll({{.b = 3, .g = 4, .l = 1, .s = 50, .e = 16, .f = 16}});
  checkAll({{.b = 3, .g = 1, .l = 9, .s = 1, .e = 4, .f = 4, .hasSums = true}});
}

TEST(AttentionKernel, Causal) {
  checkAll({{.b = 1, .g = 2, .l = 33, .s = 33, .e = 8, .f = 8, .isCausal = true, .hasSums = true}});
  checkAll({{.b = 1, .g = 1, .l = 40, .s = 13, .e = 8, .f = 8, .isCausal = true}});
  checkAll({{.b = 1, .g = 1, .l = 9, .s = 30, .e = 8, .f = 8, .isCausal = true}});
}

TEST(AttentionKernel, Masks) {
  checkAll(
      {{.b = 2, .g = 2, .l = 17, .s = 22, .e = 8, .f = 8, .hasSums = true, .mask = Mask::Seen}});
  checkAll({{.b = 2,
             .g = 2,
             .l = 17,
             .s = 22,
             .e = 8,
             .f = 8,
             .mask = Mask::Added,
             .isMaskOfKeys = true}});
  // Some queries see nothing.
  checkAll(
      {{.b = 1, .g = 1, .l = 30, .s = 2, .e = 8, .f = 8, .hasSums = true, .mask = Mask::Seen}});
  checkAll(
      {{.b = 1, .g = 1, .l = 12, .s = 12, .e = 4, .f = 4, .isCausal = true, .mask = Mask::Seen}});
}

TEST(AttentionKernel, Dtypes) {
  for (kernel::DType dtype : {kernel::f16, kernel::bf16, kernel::f64})
    checkAll({{.b = 1, .g = 2, .l = 19, .s = 24, .e = 16, .f = 16, .dtype = dtype}});
}

TEST(AttentionKernel, ConfigurationsThatAreNot) {
  Attention spec = Case{{.b = 2, .g = 6, .l = 10, .s = 20, .e = 8, .f = 8}}.spec();
  auto isLegal = [&](const AttentionConfiguration &configuration) {
    EXPECT_EQ(attentionFrom(numbersOf(configuration)), configuration);
    return holds(attentionConstraints(spec), numbersOf(configuration));
  };
  EXPECT_TRUE(isLegal({.queries = 10, .keys = 20, .groups = 3}));
  EXPECT_FALSE(isLegal({.queries = 11, .keys = 20}));
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 21}));
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 20, .groups = 4}));
}

} // namespace
