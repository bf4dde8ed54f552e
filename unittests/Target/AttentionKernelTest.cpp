// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention template beside loops in double precision: interpreted, and compiled by the cpu
// target, in the configuration that is chosen and in others.
#include "Language/Trace.h"
#include "Target/CPU/Configuration/AttentionCost.h"
#include "TemplateKernels.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::kernels;

namespace {

enum class Mask { None, Seen, Added };

/// query [b, g, l, e], key [b, s, e], value [b, s, f], mask [l, s] or [b, s] -> output [b, l, g,
/// f], log of sums [b, g, l].
struct Case {
  int64_t b = 1, g = 1, l = 1, s = 1, e = 1, f = 1;
  bool isCausal = false, hasSums = false;
  Mask mask = Mask::None;
  bool isMaskOfKeys = false;
  kernel::DType dtype = kernel::f32;

  Attention spec() const {
    Attention spec;
    spec.dims = {{b}, {g}, {l}, {s}, {e}, {f}};
    spec.queries = 2, spec.keys = 3, spec.depth = 4, spec.width = 5;
    spec.scale = 1 / std::sqrt(double(e)), spec.isCausal = isCausal;
    spec.sum = dtype == kernel::f64 ? kernel::f64 : kernel::f32;
    auto add = [&](const char *name, kernel::DType type, const std::vector<int> &dims,
                   bool isOutput = false) {
      Access access{int(spec.buffers.size()), {}};
      BufferSpec buffer{name, type, {}, isOutput};
      for (int dim : dims)
        access.axes.push_back({dim}), buffer.shape.push_back(spec.dims[dim]);
      spec.buffers.push_back(buffer);
      return access;
    };
    spec.query = add("q", dtype, {0, 1, 2, 4});
    spec.key = add("k", dtype, {0, 3, 4});
    spec.value = add("v", dtype, {0, 3, 5});
    if (mask != Mask::None)
      spec.mask =
          add("m", mask == Mask::Seen ? kernel::i1 : kernel::f32, {isMaskOfKeys ? 0 : 2, 3});
    spec.output = add("o", dtype, {0, 2, 1, 5}, true);
    if (hasSums)
      spec.logSumExp = add("sums", spec.sum, {0, 1, 2}, true);
    return spec;
  }
};

struct Truth {
  std::vector<double> output, sums;
};

/// One query.
void attend(const Case &c, const std::vector<HostTensor> &in, int64_t b, int64_t g, int64_t l,
            Truth &truth) {
  std::vector<double> scores(size_t(c.s), -INFINITY);
  double most = -INFINITY, total = 0;
  for (int64_t s = 0; s < c.s; ++s) {
    double dot = 0, mask = 1;
    for (int64_t e = 0; e < c.e; ++e)
      dot += at(in[0], ((b * c.g + g) * c.l + l) * c.e + e) * at(in[1], (b * c.s + s) * c.e + e);
    if (c.mask != Mask::None)
      mask = at(in[3], (c.isMaskOfKeys ? b : l) * c.s + s);
    if ((c.mask == Mask::Seen && mask == 0) || (c.isCausal && s > l))
      continue;
    scores[size_t(s)] = dot / std::sqrt(double(c.e)) + (c.mask == Mask::Added ? mask : 0);
    most = std::max(most, scores[size_t(s)]);
  }
  for (double &score : scores)
    total += score = score == -INFINITY ? 0 : std::exp(score - most);
  for (int64_t f = 0; f < c.f; ++f) {
    double sum = 0;
    for (int64_t s = 0; s < c.s; ++s)
      sum += scores[size_t(s)] * at(in[2], (b * c.s + s) * c.f + f);
    truth.output[size_t(((b * c.l + l) * c.g + g) * c.f + f)] = total == 0 ? 0 : sum / total;
  }
  truth.sums[size_t((b * c.g + g) * c.l + l)] = most + std::log(total);
}

Truth truthOf(const Case &c, const std::vector<HostTensor> &in) {
  Truth truth{std::vector<double>(size_t(c.b * c.l * c.g * c.f)),
              std::vector<double>(size_t(c.b * c.g * c.l))};
  for (int64_t b = 0; b < c.b; ++b)
    for (int64_t g = 0; g < c.g; ++g)
      for (int64_t l = 0; l < c.l; ++l)
        attend(c, in, b, g, l, truth);
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
  checkAll({.b = 2, .g = 1, .l = 19, .s = 24, .e = 8, .f = 16});
  checkAll({.b = 1, .g = 1, .l = 5, .s = 37, .e = 7, .f = 3, .hasSums = true});
}

TEST(AttentionKernel, OneQueryOneKey) {
  checkAll({.b = 3, .g = 4, .l = 1, .s = 50, .e = 16, .f = 16});
  checkAll({.b = 3, .g = 1, .l = 9, .s = 1, .e = 4, .f = 4, .hasSums = true});
}

TEST(AttentionKernel, Causal) {
  checkAll({.b = 1, .g = 2, .l = 33, .s = 33, .e = 8, .f = 8, .isCausal = true, .hasSums = true});
  checkAll({.b = 1, .g = 1, .l = 40, .s = 13, .e = 8, .f = 8, .isCausal = true});
  checkAll({.b = 1, .g = 1, .l = 9, .s = 30, .e = 8, .f = 8, .isCausal = true});
}

TEST(AttentionKernel, Masks) {
  checkAll({.b = 2, .g = 2, .l = 17, .s = 22, .e = 8, .f = 8, .hasSums = true, .mask = Mask::Seen});
  checkAll({.b = 2,
            .g = 2,
            .l = 17,
            .s = 22,
            .e = 8,
            .f = 8,
            .mask = Mask::Added,
            .isMaskOfKeys = true});
  // Some queries see nothing.
  checkAll({.b = 1, .g = 1, .l = 30, .s = 2, .e = 8, .f = 8, .hasSums = true, .mask = Mask::Seen});
  checkAll(
      {.b = 1, .g = 1, .l = 12, .s = 12, .e = 4, .f = 4, .isCausal = true, .mask = Mask::Seen});
}

TEST(AttentionKernel, Dtypes) {
  for (kernel::DType dtype : {kernel::f16, kernel::bf16, kernel::f64})
    checkAll({.b = 1, .g = 2, .l = 19, .s = 24, .e = 16, .f = 16, .dtype = dtype});
}

TEST(AttentionKernel, ConfigurationsThatAreNot) {
  Attention spec = Case{.b = 2, .g = 6, .l = 10, .s = 20, .e = 8, .f = 8}.spec();
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
