// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The template of attention's gradients beside loops in double precision: interpreted, and compiled
// by the cpu target, in the configuration that is chosen and in others, in one kernel and in two.
#include "Kernels/AttentionGradient.h"
#include "Language/Trace.h"
#include "Target/CPU/Configuration/AttentionGradientCost.h"
#include "unittests/Target/Configuration/AttentionCase.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace tw;
using namespace tw::kernels;

namespace {

/// dO [b, l, g, f], log of sums and delta [b, g, l] -> dQ [b, g, l, e], dK [b, s, e], dV [b, s, f].
struct Case : AttentionCase {
  AttentionGradient spec() const {
    AttentionGradient spec;
    describeInputs(spec);
    spec.outputGradient = add(spec, "go", dtype, {0, 2, 1, 5});
    spec.logSumExp = add(spec, "lse", spec.sum, {0, 1, 2});
    spec.delta = add(spec, "delta", spec.sum, {0, 1, 2});
    spec.queryGradient = add(spec, "dq", dtype, {0, 1, 2, 4}, true);
    spec.keyGradient = add(spec, "dk", dtype, {0, 3, 4}, true);
    spec.valueGradient = add(spec, "dv", dtype, {0, 3, 5}, true);
    return spec;
  }
};

using Numbers64 = std::vector<double>;

void set(HostTensor &tensor, int64_t i, double value) {
  float narrow = float(value);
  bool isWide = info(tensor.dtype()).bytes == 8;
  size_t bytes = isWide ? 8 : 4;
  std::memcpy(tensor.bytes().data() + size_t(i) * bytes,
              isWide ? static_cast<const void *>(&value) : &narrow, bytes);
}

/// One query: what it adds to the gradients. Fills its log of sums and delta in.
void differentiate(const Case &c, const std::vector<Numbers64> &in, HostTensor &logSums,
                   HostTensor &deltas, int64_t b, int64_t g, int64_t l,
                   std::vector<Numbers64> &gradients) {
  Numbers64 scores = c.scores(in, b, g, l), weights(size_t(c.s)), dots(size_t(c.s));
  double sums = logSumExp(scores), delta = 0;
  auto dO = [&](int64_t f) {
    return in[c.mask == Mask::None ? 3 : 4][size_t(((b * c.l + l) * c.g + g) * c.f + f)];
  };
  for (int64_t s = 0; s < c.s && sums != -INFINITY; ++s) {
    weights[size_t(s)] = std::exp(scores[size_t(s)] - sums);
    for (int64_t f = 0; f < c.f; ++f)
      dots[size_t(s)] += dO(f) * in[2][size_t((b * c.s + s) * c.f + f)];
    delta += weights[size_t(s)] * dots[size_t(s)];
  }
  int64_t row = (b * c.g + g) * c.l + l;
  set(logSums, row, sums);
  set(deltas, row, delta);
  for (int64_t s = 0; s < c.s; ++s) {
    double score = weights[size_t(s)] * (dots[size_t(s)] - delta) * c.scale();
    for (int64_t e = 0; e < c.e; ++e) {
      gradients[0][size_t(row * c.e + e)] += score * in[1][size_t((b * c.s + s) * c.e + e)];
      gradients[1][size_t((b * c.s + s) * c.e + e)] += score * in[0][size_t(row * c.e + e)];
    }
    for (int64_t f = 0; f < c.f; ++f)
      gradients[2][size_t((b * c.s + s) * c.f + f)] += weights[size_t(s)] * dO(f);
  }
}

/// The gradients of which a specification has `wanted`, of query, key and value.
struct Wanted {
  bool query = false, key = false, value = false;
};

void check(const Case &c, Wanted wanted, const AttentionGradientConfiguration &configuration) {
  AttentionGradient spec = c.spec();
  std::vector<HostTensor> inputs;
  for (const BufferSpec &buffer : spec.buffers)
    if (!buffer.isOutput)
      inputs.push_back(randomTensor(buffer, int(inputs.size()) + 3));
  std::vector<Numbers64> gradients = {Numbers64(size_t(c.b * c.g * c.l * c.e)),
                                      Numbers64(size_t(c.b * c.s * c.e)),
                                      Numbers64(size_t(c.b * c.s * c.f))};
  std::vector<Numbers64> values;
  for (const HostTensor &input : inputs)
    values.push_back(valuesOf(input));
  HostTensor &deltas = inputs.back(), &logSums = inputs[inputs.size() - 2];
  for (int64_t b = 0; b < c.b; ++b)
    for (int64_t g = 0; g < c.g; ++g)
      for (int64_t l = 0; l < c.l; ++l)
        differentiate(c, values, logSums, deltas, b, g, l, gradients);
  std::vector<Numbers64> truth;
  std::pair<bool, std::optional<Access> *> results[] = {{wanted.query, &spec.queryGradient},
                                                        {wanted.key, &spec.keyGradient},
                                                        {wanted.value, &spec.valueGradient}};
  for (size_t i = 0; i < 3; ++i)
    if (results[i].first)
      truth.push_back(gradients[i]);
    else
      results[i].second->reset();
  std::vector<HostTensor> used;
  size_t count = inputs.size();
  for (int former : dropUnusedBuffers(spec))
    if (size_t(former) < count)
      used.push_back(std::move(inputs[size_t(former)]));
  dropUnusedDims(spec);
  ASSERT_TRUE(holds(attentionGradientConstraints(spec), numbersOf(configuration)));
  auto trace = kernel::trace("k", [&] { writeAttentionGradient(spec, configuration); });
  ASSERT_FALSE(trace.error) << trace.error->message;
  std::string text = withoutDestinations(trace.text);
  SCOPED_TRACE(text);
  target::CompiledKernel kernel(text);
  double tolerance = c.dtype == kernel::f32 || c.dtype == kernel::f64 ? 4e-6 : 2e-2;
  for (bool isCompiled : {false, true}) {
    std::vector<HostTensor> made = isCompiled ? kernel.run(used) : kernel.interpret(used);
    ASSERT_EQ(made.size(), truth.size());
    for (size_t number = 0; number < made.size(); ++number) {
      ASSERT_EQ(size_t(made[number].count()), truth[number].size());
      for (size_t i = 0; i < truth[number].size(); ++i) {
        double expected = truth[number][i];
        ASSERT_NEAR(at(made[number], int64_t(i)), expected,
                    tolerance * std::max(1.0, std::abs(expected)))
            << (isCompiled ? "compiled, " : "interpreted, ") << "result " << number << ", element "
            << i;
      }
    }
  }
}

constexpr Wanted all{true, true, true}, queries{.query = true}, keys{.key = true, .value = true};

/// In one kernel as chosen, and in two of small blocks, split.
void check(const Case &c) {
  check(c, all, target::cpu::chooseAttentionGradient(c.spec(), {16, 32}));
  AttentionGradientConfiguration block{
      .queries = std::min<int64_t>(c.l, 8), .keys = std::min<int64_t>(c.s, 6), .splitsLoop = true};
  check(c, queries, block);
  check(c, keys, block);
}

/// And in two as chosen, in one in blocks of all keys, and in two that are not split.
void checkAll(const Case &c) {
  check(c);
  AttentionGradient ofQueries = c.spec(), ofKeys = c.spec();
  ofQueries.keyGradient.reset(), ofQueries.valueGradient.reset();
  ofKeys.queryGradient.reset();
  check(c, queries, target::cpu::chooseAttentionGradient(ofQueries, {16, 32}));
  check(c, keys, target::cpu::chooseAttentionGradient(ofKeys, {16, 32}));
  AttentionGradientConfiguration block{.queries = std::min<int64_t>(c.l, 8), .keys = c.s};
  check(c, all, block);
  block.keys = std::min<int64_t>(c.s, 6);
  check(c, queries, block);
  check(c, keys, block);
}

TEST(AttentionGradientKernel, Full) {
  checkAll({{.b = 2, .g = 1, .l = 19, .s = 24, .e = 8, .f = 16}});
  checkAll({{.b = 1, .g = 1, .l = 5, .s = 37, .e = 7, .f = 3}});
}

TEST(AttentionGradientKernel, GroupsAreSummed) {
  check({{.b = 2, .g = 3, .l = 17, .s = 14, .e = 8, .f = 8}});
}

TEST(AttentionGradientKernel, OneQueryOneKey) {
  check({{.b = 3, .g = 4, .l = 1, .s = 50, .e = 16, .f = 16}});
  check({{.b = 3, .g = 1, .l = 9, .s = 1, .e = 4, .f = 4}});
}

TEST(AttentionGradientKernel, SomeResults) {
  Case c{{.b = 2, .g = 2, .l = 19, .s = 24, .e = 8, .f = 12}};
  for (Wanted wanted : {Wanted{.key = true}, Wanted{.value = true}})
    check(c, wanted, {.queries = 8, .keys = 8});
  for (Wanted wanted : {Wanted{.query = true, .key = true}, Wanted{.query = true, .value = true}})
    check(c, wanted, {.queries = 8, .keys = 24});
}

TEST(AttentionGradientKernel, Causal) {
  check({{.b = 1, .g = 2, .l = 33, .s = 33, .e = 8, .f = 8, .isCausal = true}});
  check({{.b = 1, .g = 1, .l = 40, .s = 13, .e = 8, .f = 8, .isCausal = true}});
  check({{.b = 1, .g = 1, .l = 9, .s = 30, .e = 8, .f = 8, .isCausal = true}});
}

TEST(AttentionGradientKernel, Masks) {
  check({{.b = 2, .g = 2, .l = 17, .s = 22, .e = 8, .f = 8, .mask = Mask::Seen}});
  check({{.b = 2,
          .g = 2,
          .l = 17,
          .s = 22,
          .e = 8,
          .f = 8,
          .mask = Mask::Added,
          .isMaskOfKeys = true}});
  // Some queries see nothing.
  check({{.b = 1, .g = 1, .l = 30, .s = 2, .e = 8, .f = 8, .mask = Mask::Seen}});
  check({{.b = 1, .g = 1, .l = 12, .s = 12, .e = 4, .f = 4, .isCausal = true, .mask = Mask::Seen}});
}

TEST(AttentionGradientKernel, Dtypes) {
  for (kernel::DType dtype : {kernel::f16, kernel::bf16, kernel::f64})
    check({{.b = 1, .g = 2, .l = 19, .s = 24, .e = 16, .f = 16, .dtype = dtype}});
}

TEST(AttentionGradientKernel, WideHead) {
  check({{.b = 1, .g = 1, .l = 21, .s = 18, .e = 256, .f = 256}});
}

TEST(AttentionGradientKernel, ConfigurationsThatAreNot) {
  AttentionGradient spec = Case{{.b = 2, .g = 6, .l = 10, .s = 20, .e = 8, .f = 8}}.spec();
  auto isLegal = [&](const AttentionGradientConfiguration &configuration) {
    EXPECT_EQ(attentionGradientFrom(numbersOf(configuration)), configuration);
    return holds(attentionGradientConstraints(spec), numbersOf(configuration));
  };
  EXPECT_TRUE(isLegal({.queries = 10, .keys = 20}));
  EXPECT_FALSE(isLegal({.queries = 11, .keys = 20}));
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 10})); // together, a block has all keys
  EXPECT_FALSE(isLegal({.queries = 10, .keys = 20, .splitsLoop = true}));
  spec.queryGradient.reset();
  EXPECT_TRUE(isLegal({.queries = 10, .keys = 10}));
}

} // namespace
