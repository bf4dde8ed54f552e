// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/Kernels/Specs.h"
#include <gtest/gtest.h>
#include <regex>

namespace tw::kernels {
namespace {

TEST(Contraction, Refusals) {
  Contraction spec = product(4, 8, 16);
  EXPECT_EQ(refuse(spec), "");
  spec.b.axes[0].dim = -1; // k of a alone
  EXPECT_EQ(refuse(spec), "a dimension of one operand alone is summed over");
  spec = product(4, 8, 16);
  spec.c.axes = {{-1}, {-1}};
  EXPECT_NE(refuse(spec), "");
}

/// Rows of `outer` times `inner`, of which a has the inner ones first, times 512 x 64.
Contraction productOfSteps(int64_t outer, int64_t inner) {
  Contraction spec;
  spec.dims = {{outer}, {inner}, {64}, {512}};
  spec.buffers = {{"a", kernel::f32, {{inner}, {outer}, {512}}},
                  {"b", kernel::f32, {{512}, {64}}},
                  {"c", kernel::f32, {{outer}, {inner}, {64}}, true}};
  spec.a = {0, {{1}, {0}, {3}}};
  spec.b = {1, {{3}, {2}}};
  spec.c = {2, {{0}, {1}, {2}}};
  return spec;
}

TEST(Contraction, BlocksAreOfTheLongerRowsWhereTheInnermostAreFew) {
  EXPECT_EQ(rolesOf(productOfSteps(64, 8)).rows, (std::vector<int>{1, 0}));
  EXPECT_EQ(rolesOf(productOfSteps(64, 32)).rows, (std::vector<int>{0, 1})); // are not few
  EXPECT_EQ(rolesOf(productOfSteps(12, 8)).rows, (std::vector<int>{0, 1}));  // not much longer
  std::string text = traced(productOfSteps(64, 8), {32, 16});
  EXPECT_NE(text.find("tensor<1x32x512xf32>"), std::string::npos) << text;
}

TEST(Contraction, Texts) {
  EXPECT_NE(traced(product(64, 64, 32), {8, 48}).find("tensor<8x48xf32>"), std::string::npos);
  EXPECT_NE(traced(product(64, 64, 32, true), {8, 48}).find("tile.transpose"), std::string::npos);
  std::string packed = traced(product(64, 96, 32), {8, 48, 1, 1, true});
  EXPECT_NE(packed.find("in %b: !tile.buffer<[2, 32, 48], f32>"), std::string::npos) << packed;
}

TEST(Contraction, PartsOfTheColumns) {
  ContractionConfiguration block{8, 16, 1, 1, true};
  block.columnParts = 3;
  std::string text = traced(product(64, 96, 32), block);
  // Two programs along 32 columns of each part, whose panels lie beside each other.
  EXPECT_NE(text.find("in %b: !tile.buffer<[2, 3, 32, 16], f32>"), std::string::npos) << text;
  EXPECT_NE(text.find("grid [8, 2]"), std::string::npos) << text;
  size_t stores = 0;
  for (size_t at = 0; (at = text.find("tile.store", at)) != std::string::npos; ++at)
    ++stores;
  EXPECT_EQ(stores, 3u) << text;
}

TEST(Contraction, OperandsOfTwoDtypes) {
  Contraction spec = product(64, 64, 32);
  spec.buffers[1].dtype = kernel::bf16;
  std::string text = traced(spec, {8, 16});
  EXPECT_NE(text.find("arith.extf"), std::string::npos) << text;
}

TEST(Contraction, FieldsByTheirNames) {
  ContractionConfiguration configuration{6, 64, 32, 4, true, 2, false, 256};
  Numbers numbers = numbersOf(configuration);
  EXPECT_EQ(numbers["rows"], 6);
  EXPECT_EQ(numbers["panels"], 2);
  EXPECT_EQ(numbers.size(), contractionSchema().fields.size());
  EXPECT_EQ(contractionFrom(numbers), configuration);
  EXPECT_EQ(contractionFrom({}), ContractionConfiguration());
}

/// Panels in which so many neighbours along the sum lie side by side.
ContractionConfiguration inGroups(int64_t group, int64_t kBlock) {
  ContractionConfiguration configuration{6, 64, 1, 1, true, 1, false, kBlock};
  configuration.panelGroup = group;
  return configuration;
}

TEST(Contraction, PanelsOfNeighboursAlongTheSum) {
  for (auto [group, panels] :
       {std::pair(1, "2, 32, 64"), {2, "2, 16, 64, 2"}, {4, "2, 8, 64, 4"}}) {
    std::string text = traced(product(64, 128, 32), inGroups(group, 0));
    EXPECT_NE(text.find("in %b: !tile.buffer<[" + std::string(panels) + "], f32>"),
              std::string::npos)
        << text;
  }
}

TEST(Contraction, PairsInALoopAreReadByTheirNumber) {
  Contraction spec = product(64, 128, 32);
  spec.buffers[0].dtype = spec.buffers[1].dtype = kernel::bf16;
  std::string text = traced(spec, inGroups(2, 8));
  // Step k of 8 terms begins at pair 4 k, of which it is known that it is inside, and what is next.
  EXPECT_EQ(text.find("arith.divsi"), std::string::npos) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("arith.muli %\\w+, %c4 "))) << text;
}

// The last panel has more columns than there are; if one is enough, no more are read of it.
TEST(Contraction, PanelsThatArePadded) {
  std::string text = traced(product(64, 97, 32), {8, 48, 1, 1, true});
  EXPECT_NE(text.find("in %b: !tile.buffer<[3, 32, 48], f32>"), std::string::npos) << text;
  text = traced(product(64, 24, 32), {8, 32, 1, 1, true});
  EXPECT_NE(text.find("in %b: !tile.buffer<[1, 32, 32], f32>"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<1x32x24xf32>"), std::string::npos) << text;
}

TEST(Contraction, ConstraintsOfEveryTarget) {
  auto violated = [](const Contraction &spec, const ContractionConfiguration &configuration) {
    std::vector<Constraint> constraints = contractionConstraints(spec);
    const Constraint *first = firstViolated(constraints, numbersOf(configuration));
    return first ? describe(*first, numbersOf(configuration)) : "";
  };
  EXPECT_EQ(violated(product(64, 96, 32), {8, 48, 1, 1, true}), "");
  ContractionConfiguration parts{8, 48};
  parts.columnParts = 2;
  EXPECT_EQ(violated(product(64, 96, 32), parts), "");
  EXPECT_EQ(violated(product(64, 144, 32), parts),
            "(column_parts - 1) * (144 mod (columns * column_parts)) = 48 must not be more than 0: "
            "programs of a part of the columns come out even");
  EXPECT_EQ(violated(product(64, 97, 32), {8, 48, 1, 1, true}), "");
  EXPECT_EQ(violated(product(64, 97, 32), {8, 48, 1, 1, true, 3}),
            "packed * (panels - 1) * (97 mod columns) = 2 must not be more than 0: programs of "
            "several panels come out even");
  EXPECT_EQ(
      violated(product(64, 96, 32), {8, 48, 1, 1, false, 2}),
      "panels = 2 must not be more than 1 + packed * columns = 1: there are panels of a packed "
      "operand only");
  EXPECT_EQ(violated(product(64, 96, 32), {8, 48, 1, 1, false, 1, true}),
            "vectorize_reduction = 1 must not be more than 0: neither operand is a vector along "
            "rows that lie "
            "in memory");
}

TEST(Contraction, PanelsOfNeighboursComeOutEven) {
  EXPECT_EQ(refusePanelGroup(product(64, 97, 32), inGroups(4, 0)), ""); // columns do not matter
  EXPECT_EQ(refusePanelGroup(product(64, 96, 30), inGroups(1, 7)), "");
  ContractionConfiguration asItIs = inGroups(4, 0);
  asItIs.isPacked = false;
  EXPECT_EQ(refusePanelGroup(product(64, 96, 32), asItIs),
            "only panels have neighbours along the sum side by side");
  std::string uneven = "panels have 4 neighbours along the sum side by side, in which the sum or a "
                       "trip of its loop does not come out even";
  EXPECT_EQ(refusePanelGroup(product(64, 96, 32), inGroups(4, 6)), uneven);
  EXPECT_EQ(refusePanelGroup(product(64, 96, 30), inGroups(4, 0)), uneven);
  Contraction any = product(64, 96, 32);
  any.dims[2].size = {};
  EXPECT_EQ(refusePanelGroup(any, inGroups(4, 0)), uneven);
}

} // namespace
} // namespace tw::kernels
