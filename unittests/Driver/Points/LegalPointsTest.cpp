// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What constraints call legal is lowered, all of it, for CPUs of each kind, of kernels, of kernels
// whose sizes only calls tell, and of their variants; and what breaks one constraint is refused
// with its reason before anything is lowered.
#include "Tune/Solver.h"
#include "unittests/Driver/Points/Dispatches.h"
#include "unittests/Driver/Points/PointCompiler.h"
#include <gtest/gtest.h>
#include <ostream>
#include <set>

namespace tw {
namespace {

using kernels::Constraint;
using tune::Knob;
using tune::Point;
using tune::Space;

struct Case {
  const char *name;
  std::string text;
  const char *target;
  tile::Cut cut = tile::Cut::None;
  /// Of these knobs only such values.
  std::map<std::string, std::vector<int64_t>> values = {};
  /// Points are of the variant for calls in which the size that only they tell is `size`, or with
  /// so many workers. 0: of the kernel itself.
  int64_t size = 0, workers = 0;

  SpaceRequest request() const {
    SpaceRequest made;
    made.workers = workers;
    made.addsForWorkers = workers > 0;
    if (size > 0)
      made.sizes = {{"k", size}};
    return made;
  }
};

void PrintTo(const Case &each, std::ostream *out) { *out << each.name << " for " << each.target; }

//===----------------------------------------------------------------------===//
// What is legal
//===----------------------------------------------------------------------===//

/// Columns about whole vectors, and what else makes the points of a product a few hundred.
const std::map<std::string, std::vector<int64_t>> aboutVectors = {
    {"columns", {1, 8, 15, 16, 17, 32, 48}}, {"panels", {1, 2}}, {"k_block", {0, 2, 3}}};
const std::map<std::string, std::vector<int64_t>> inAnyOrder = {
    {"row_programs", {1, 2}}, {"column_programs", {1, 2}}, {"split_parts", {0, 1, 2, 3}}};

/// Of sizes that only calls tell, of which no size bounds blocks.
const std::map<std::string, std::vector<int64_t>> someRows = {
    {"rows", {1, 3, 8}}, {"columns", {1, 8, 9, 16}}, {"k_block", {0, 2}}, {"panels", {1, 2}}};
const std::map<std::string, std::vector<int64_t>> someQueries = {{"queries", {1, 3, 8}},
                                                                 {"keys", {1, 3, 8}}};
const std::map<std::string, std::vector<int64_t>> someBlocks = {
    {"block_0", {0, 1, 3, 8}}, {"block_1", {0, 1, 3, 8}}, {"chunk_1", {0, 1, 8}}};

/// Of sizes so small that all points are a few hundred.
const Case legalCases[] = {
    {"product", text(ProductCase{2, 4, 3}), "cpu:x86-64-v3"},
    {"order", text(ProductCase{2, 2, 2}), "cpu:x86-64-v3", tile::Cut::None, inAnyOrder},
    {"vectors", text(ProductCase{2, 48, 3}), "cpu:x86-64-v3", tile::Cut::None, aboutVectors},
    {"vectors", text(ProductCase{2, 48, 3}), "cpu:x86-64-v4", tile::Cut::None, aboutVectors},
    {"given", text(ProductCase{2, 4, 3, "f32", false}), "cpu:x86-64-v4"},
    {"row", text(ProductCase{4, 1, 3, "f32", false}), "cpu:x86-64-v3"},
    {"pairs", text(ProductCase{2, 32, 4, "bf16"}), "cpu:amx", tile::Cut::None, aboutVectors},
    {"pairs", text(ProductCase{2, 16, 4, "bf16"}), "cpu:aarch64+bf16", tile::Cut::None,
     aboutVectors},
    {"convolution", text(ConvolutionCase{2, 2, 4}), "cpu:x86-64-v3"},
    {"convolution", text(ConvolutionCase{2, 2, 4}), "cpu:aarch64"},
    {"groups", text(ConvolutionCase{2, 4, 4, 2}), "cpu:x86-64-v4"},
    {"depthwise", text(ConvolutionCase{4, 8, 8, 8}), "cpu:x86-64-v3"},
    {"winograd", text(ConvolutionCase{4, 4, 64}), "cpu:x86-64-v4", tile::Cut::TransformWeights},
    {"attention", attentionText({1, 4, 5, 4}), "cpu:x86-64-v3"},
    {"attention_bf16", attentionText({2, 4, 5, 4, "bf16"}), "cpu:amx"},
    {"gradient", attentionGradientText({1, 4, 5, 4}), "cpu:x86-64-v3"},
    {"gradients", attentionGradientText({1, 4, 5, 4}), "cpu:x86-64-v4", tile::Cut::SplitGradients},
    {"transpose", transposeText(5, 9), "cpu:x86-64-v3"},
    {"row_sum", rowSumText(3, 5), "cpu:aarch64"},
    {"concatenation", concatenationText(3, 2, 4), "cpu:x86-64-v4"},
    // Sizes that only calls tell.
    {"any_rows", text(ProductCase{anySize, 16, 3}), "cpu:x86-64-v3", tile::Cut::None, someRows},
    {"any_pairs", text(ProductCase{anySize, 16, 4, "bf16"}), "cpu:amx", tile::Cut::None, someRows},
    {"any_sum", text(ProductCase{3, 8, anySize, "f32", false}), "cpu:x86-64-v4", tile::Cut::None,
     someRows},
    {"any_columns", text(ProductCase{3, anySize, 4, "f32", false}), "cpu:x86-64-v3",
     tile::Cut::None, someRows},
    {"any_product", text(ProductCase{anySize, otherSize, anySize, "f32", false}), "cpu:aarch64",
     tile::Cut::None, someRows},
    {"any_row", text(ProductCase{anySize, 1, 3, "f32", false}), "cpu:x86-64-v4", tile::Cut::None,
     someRows},
    {"any_queries", attentionText({1, anySize, 5, 4}), "cpu:x86-64-v3", tile::Cut::None,
     someQueries},
    {"any_keys", attentionText({2, 1, anySize, 4}), "cpu:x86-64-v4", tile::Cut::None, someQueries},
    {"any_length", attentionText({1, anySize, anySize, 4, "bf16"}), "cpu:amx", tile::Cut::None,
     someQueries},
    {"any_gradient", attentionGradientText({1, anySize, anySize, 4}), "cpu:x86-64-v3",
     tile::Cut::SplitGradients, someQueries},
    {"any_transpose", transposeText(anySize, 9), "cpu:x86-64-v3", tile::Cut::None, someBlocks},
    {"any_row_sum", rowSumText(3, anySize), "cpu:x86-64-v4", tile::Cut::None, someBlocks},
    // Variants, for few rows or queries, or for many workers.
    {"one_row", text(ProductCase{anySize, 16, 3}), "cpu:x86-64-v4", tile::Cut::None, {}, 1},
    {"few_rows", text(ProductCase{anySize, 16, 3}), "cpu:x86-64-v3", tile::Cut::None, {}, 5},
    {"few_pairs", text(ProductCase{anySize, 16, 4, "bf16"}), "cpu:amx", tile::Cut::None, {}, 3},
    {"one_query", attentionText({2, anySize, 6, 4}), "cpu:x86-64-v4", tile::Cut::None, {}, 1},
    {"few_queries", attentionText({1, anySize, anySize, 4}), "cpu:x86-64-v3", tile::Cut::None,
     someQueries, 7},
    {"workers",
     text(ProductCase{48, 32, 512, "f32", false}),
     "cpu:x86-64-v3",
     tile::Cut::None,
     {{"rows", {1, 7, 24, 48}}, {"columns", {1, 8, 15, 16, 32}}},
     0,
     8},
    {"winograd_workers",
     text(ConvolutionCase{4, 4, 64}),
     "cpu:x86-64-v4",
     tile::Cut::TransformWeights,
     {},
     0,
     4},
};

/// Of what a case does not name: programs in the order that differs most from none, and loops that
/// workers share in one way, for neither changes what a program is.
void thin(Space &space, const Case &of) {
  for (Knob &knob : space.knobs) {
    if (auto given = of.values.find(knob.name); given != of.values.end())
      std::erase_if(knob.values, [&](int64_t value) {
        return std::ranges::find(given->second, value) == given->second.end();
      });
    else if (knob.name == "split_parts")
      knob.values = {0, 2};
    else if (knob.name.find("programs") != knob.name.npos)
      knob.values = {knob.values.back()};
  }
}

class LegalPoints : public testing::TestWithParam<Case> {};

TEST_P(LegalPoints, AreAllLowered) {
  PointCompiler compiler(GetParam().text, GetParam().target, GetParam().cut, GetParam().request());
  size_t tried = 0, wrong = 0;
  bool hasVariant = false;
  for (const KernelSpace &kernel : compiler.spaces()) {
    hasVariant |= !kernel.bound.isForAll();
    Space space = kernel.space;
    thin(space, GetParam());
    bool areAll = forEachLegalPoint(space, 1'000'000, [&](const Point &point) {
      ++tried;
      std::string said = compiler.compile(kernel, point);
      if (!said.empty() && ++wrong < 5)
        ADD_FAILURE() << kernel.kernel << " with " << testing::PrintToString(point) << "\n" << said;
      return true;
    });
    EXPECT_TRUE(areAll);
  }
  EXPECT_EQ(wrong, 0u) << "of " << tried;
  EXPECT_EQ(hasVariant, GetParam().size > 0 || GetParam().workers > 0);
  EXPECT_GT(compiler.programs(), 1u);
}

std::string nameOf(const testing::TestParamInfo<Case> &info) {
  std::string name = std::string(info.param.name) + "_" + info.param.target;
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Small, LegalPoints, testing::ValuesIn(legalCases), nameOf);

//===----------------------------------------------------------------------===//
// What is not
//===----------------------------------------------------------------------===//

/// Large enough that most constraints can be broken.
const Case refusedCases[] = {
    {"product", text(ProductCase{2048, 2048, 64}), "cpu:x86-64-v3"},
    {"given", text(ProductCase{64, 64, 64, "f32", false}), "cpu:x86-64-v4"},
    {"row", text(ProductCase{4096, 1, 64, "f32", false}), "cpu:x86-64-v4"},
    {"pairs", text(ProductCase{64, 64, 64, "bf16"}), "cpu:amx"},
    {"pairs", text(ProductCase{64, 64, 64, "bf16"}), "cpu:aarch64+bf16"},
    {"odd_pairs", text(ProductCase{64, 64, 63, "bf16"}), "cpu:amx"},
    {"convolution", text(ConvolutionCase{128, 8, 96}), "cpu:x86-64-v3"},
    {"depthwise", text(ConvolutionCase{12, 32, 32, 32}), "cpu:x86-64-v4"},
    {"winograd", text(ConvolutionCase{12, 8, 64}), "cpu:x86-64-v4", tile::Cut::TransformWeights},
    {"attention", attentionText({2, 2048, 2048, 64}), "cpu:x86-64-v3"},
    {"gradient", attentionGradientText({2, 2048, 2048, 64}), "cpu:x86-64-v3"},
    {"transpose", transposeText(30, 50), "cpu:x86-64-v3"},
    {"row_sum", rowSumText(30, 50), "cpu:x86-64-v3"},
    {"concatenation", concatenationText(30, 20, 40), "cpu:x86-64-v3"},
    {"few_rows", text(ProductCase{anySize, 64, 64}), "cpu:x86-64-v4", tile::Cut::None, {}, 3},
    {"few_queries", attentionText({2, anySize, 64, 64}), "cpu:x86-64-v3", tile::Cut::None, {}, 7},
    {"winograd_workers",
     text(ConvolutionCase{12, 64, 64}),
     "cpu:x86-64-v4",
     tile::Cut::TransformWeights,
     {},
     0,
     8},
};

/// Points that break constraint `number` of a space, and no other.
Space breaking(const Space &space, size_t number) {
  Space made = space;
  const Constraint &broken = space.constraints[number];
  made.constraints[number] = Constraint(broken.moreText + " + 1", broken.lessText);
  return made;
}

/// What the target itself asks, and what is asked of variants, beside the templates. Two more
/// cannot be broken alone: what is wrong with pairs of other dtypes than bf16, and with those of a
/// product vectorized along its sum.
const std::set<std::string> reasonsOfTarget = {
    "vector registers hold the block, a row of the second operand and an element of the first",
    "vector registers hold the block, a row of the weight and an element of the input",
    "a block in registers has one panel",
    "each worker has a block",
    "each is a sum of its own",
    "they are forms of a product",
    "only panels have neighbours side by side",
    "neighbours along the sum stay together",
    "neighbours come out even",
    "registers hold the sums of pairs of bf16",
    "columns of the instructions for pairs of bf16",
    "all variants of a kernel read one packing",
    "workers do not share the loop of a variant",
    "results are the same bits for any number of workers"};

TEST(IllegalPoints, AreRefusedWithTheReason) {
  std::set<std::string> missing = reasonsOfTarget;
  for (const Case &each : refusedCases) {
    SCOPED_TRACE(testing::PrintToString(each));
    PointCompiler compiler(each.text, each.target, each.cut, each.request());
    for (const KernelSpace &kernel : compiler.spaces())
      for (size_t number = 0; number < kernel.space.constraints.size(); ++number) {
        const Constraint &broken = kernel.space.constraints[number];
        tune::Solver::Points found = tune::Solver(breaking(kernel.space, number)).enumerate(1);
        if (found.points.empty()) // no value of the knobs breaks it, or not it alone
          continue;
        missing.erase(broken.reason);
        std::string said = compiler.configure(kernel, found.points.front());
        EXPECT_NE(said.find("error[TW-CONFIG-0002]: given: "), said.npos) << said;
        EXPECT_NE(said.find(broken.reason), said.npos) << said << "is not about " << broken.reason;
      }
  }
  EXPECT_TRUE(missing.empty()) << testing::PrintToString(missing);
}

} // namespace
} // namespace tw
