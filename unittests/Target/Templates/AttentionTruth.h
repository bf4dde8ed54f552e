// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention template beside loops in double precision: interpreted and compiled.
#pragma once
#include "Kernels/Attention.h"
#include "Language/Trace.h"
#include "unittests/Target/CompiledKernel.h"
#include "unittests/Target/Configuration/AttentionCase.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tw::kernels {

/// -> output [b, l, g, f], log of sums [b, g, l].
struct Case : AttentionCase {
  /// Warp groups of the nvidia target that the loop is dealt to, where it may be; 0: none.
  int64_t dealtTo = 0, stages = 4;
  int64_t parts = 1;          // of the loop over the keys, which another launch combines
  bool isTriggerLate = false; // of the nvidia target: the next launch begins beside what is stored

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

inline Truth truthOf(const Case &c, const std::vector<HostTensor> &inputs) {
  std::vector<std::vector<double>> in;
  for (const HostTensor &input : inputs)
    in.push_back(valuesOf(input));
  Truth truth{std::vector<double>(size_t(c.b * c.l * c.g * c.f)),
              std::vector<double>(size_t(c.b * c.g * c.l))};
  for (int64_t b = 0; b < c.b; ++b)
    for (int64_t g = 0; g < c.g; ++g)
      for (int64_t l = 0; l < c.l; ++l) {
        std::vector<double> scores = c.scores(in, b, g, l);
        double sums = truth.sums[size_t((b * c.g + g) * c.l + l)] = logSumExp(scores);
        for (int64_t s = 0; s < c.s && sums != -INFINITY; ++s) {
          double weight = std::exp(scores[size_t(s)] - sums);
          for (int64_t f = 0; f < c.f; ++f)
            truth.output[size_t(((b * c.l + l) * c.g + g) * c.f + f)] +=
                weight * in[2][size_t((b * c.s + s) * c.f + f)];
        }
      }
  return truth;
}

inline std::vector<HostTensor> inputsOf(const Case &c) {
  std::vector<HostTensor> inputs;
  Case known = c;
  known.unknown.clear();
  for (const BufferSpec &buffer : known.spec().buffers)
    if (!buffer.isOutput)
      inputs.push_back(randomTensor(buffer, int(inputs.size()) + 3));
  return inputs;
}

/// As an attribute of the kernel.
inline std::string configurationOf(const Case &c, const AttentionConfiguration &configuration) {
  return fmt::format(
      "tile.configuration = #tile.config<\"attention\" {{groups = {}, keys = {}, one_loop = {}, "
      "queries = {}, "
      "query_programs = {}, split_keys = {}, split_parts = {}, transposed = {}}} on <\"nvidia\" "
      "{{late_trigger = {}, ping_pong = false, stages = {}, warp_groups = {}}}>>",
      configuration.groups, configuration.keys, configuration.isOneLoop, configuration.queries,
      configuration.queryPrograms, configuration.splitsKeys, c.parts, configuration.isTransposed,
      c.isTriggerLate, c.stages, c.dealtTo);
}

/// The template as a kernel that tests call; "" where it cannot be written.
inline std::string textOf(const Case &c, const AttentionConfiguration &configuration) {
  auto trace = kernel::trace("k", [&] { writeAttention(c.spec(), configuration); });
  if (trace.error)
    return "";
  std::string text = withoutDestinations(trace.text);
  constexpr std::string_view attributes = "attributes {";
  if (size_t found = text.find(attributes); c.dealtTo > 0 && found != text.npos)
    text.insert(found + attributes.size(), configurationOf(c, configuration) + ", ");
  return text;
}

inline void check(const Case &c, const AttentionConfiguration &configuration) {
  ASSERT_TRUE(holds(attentionConstraints(c.spec()), numbersOf(configuration)));
  std::vector<HostTensor> inputs = inputsOf(c);
  Truth truth = truthOf(c, inputs);
  std::string text = textOf(c, configuration);
  ASSERT_NE(text, "");
  SCOPED_TRACE(text);
  target::CompiledKernel kernel(text);
  double tolerance = c.dtype == kernel::f32 || c.dtype == kernel::f64 ? 2e-6 : 1e-2;
  std::vector<std::vector<HostTensor>> all = kernel.runInAllWays(inputs);
  all.push_back(kernel.interpret(inputs));
  for (const std::vector<HostTensor> &results : all) {
    bool isCompiled = &results != &all.back();
    for (size_t number = 0; number < results.size(); ++number) {
      const std::vector<double> &wanted = number == 0 ? truth.output : truth.sums;
      ASSERT_EQ(size_t(results[number].count()), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i)
        if (double got = at(results[number], int64_t(i)); got != wanted[i])
          ASSERT_NEAR(got, wanted[i], tolerance) << (isCompiled ? "compiled, " : "interpreted, ")
                                                 << "result " << number << ", element " << i;
    }
  }
}

} // namespace tw::kernels
