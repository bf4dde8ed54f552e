// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Rows.h"
#include "Language/Trace.h"
#include <gtest/gtest.h>

namespace tw::kernels {
namespace {

/// y[m] = sum of x[m, n], or, `along` 0, y[n].
LoopProgram sums(Extent m, Extent n, int along) {
  LoopProgram program;
  program.dims = {m, n};
  program.buffers = {{"x", kernel::f32, {m, n}}, {"y", kernel::f32, {along ? m : n}, true}};
  Step load{Step::Kind::Load}, sum{Step::Kind::Reduce}, store{Step::Kind::Store};
  load.access = {0, {{0}, {1}}};
  sum.operands = {0}, sum.name = "sum", sum.dims = {along};
  store.operands = {1};
  store.access = {1, {{1 - along}}};
  program.steps = {load, sum, store};
  return program;
}

std::string traced(const LoopProgram &program) {
  EXPECT_TRUE(isLegal(program, chooseRows(program)));
  auto result = kernel::trace("k", [&] { writeRows(program, chooseRows(program)); });
  return result.error ? "error: " + result.error->message : result.text;
}

TEST(Rows, OnlyWhatNothingReducesIsCut) {
  EXPECT_EQ(parallelDims(sums({10}, {20}, 1)), (std::vector<bool>{true, false}));
  EXPECT_EQ(parallelDims(sums({10}, {20}, 0)), (std::vector<bool>{false, true}));
}

TEST(Rows, ConstraintsOnBlocks) {
  LoopProgram program = sums({10}, {20}, 1);
  RowsConfiguration chosen = chooseRows(program);
  chosen.walks[1].block = 8; // a part of what is summed
  EXPECT_FALSE(isLegal(program, chosen));
  chosen.walks[1].block = 0;
  EXPECT_TRUE(isLegal(program, chosen));
  chosen.walks[0].block = 0; // no grid
  EXPECT_FALSE(isLegal(program, chosen));
  chosen.walks[0] = {4, 2};
  EXPECT_TRUE(isLegal(program, chosen));
  program.singles = {0};
  EXPECT_FALSE(isLegal(program, chosen));
}

TEST(Rows, ARowAProgram) {
  std::string text = traced(sums({std::nullopt, "M"}, {20}, 1));
  EXPECT_NE(text.find("grid [M]"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<1x20xf32>"), std::string::npos) << text;
}

TEST(Rows, SumsOfColumnsTakeSeveralColumns) {
  std::string text = traced(sums({100}, {std::nullopt, "N"}, 0));
  EXPECT_NE(text.find("grid [N ceildiv 64]"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<100x64xf32>"), std::string::npos) << text;
}

} // namespace
} // namespace tw::kernels
