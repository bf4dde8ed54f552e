// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels/Rows.h"
#include "Kernels/Chunks.h"
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

/// y[m, n] = x[m, n] / sum of x[m, n]
Piece quotients(Extent m, Extent n) {
  LoopProgram program = sums(m, n, 1);
  Step divided{Step::Kind::Apply}, store{Step::Kind::Store};
  divided.operands = {0, 1}, divided.name = "arith.divf";
  store.operands = {2};
  store.access = {1, {{0}, {1}}};
  program.buffers[1].shape.push_back(n);
  program.steps[2] = divided;
  program.steps.push_back(store);
  return {program, {TensorUse(), TensorUse()}, {}, {}};
}

TEST(Rows, FewLongRowsAreReducedInChunks) {
  LoopProgram program = sums({2}, {(1 << 20) + 100}, 1);
  EXPECT_EQ(longDim(program), 1);
  std::string text = traced(program);
  EXPECT_NE(text.find("combine"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<1x1024xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<1x100xf32>"), std::string::npos) << text; // what is left
  EXPECT_FALSE(longDim(sums({2}, {1 << 19}, 1)));                       // short
  EXPECT_FALSE(longDim(sums({32}, {1 << 20}, 1)));                      // many
  EXPECT_FALSE(longDim(sums({std::nullopt, "M"}, {1 << 20}, 1)));       // perhaps
}

TEST(Rows, RowsOfUnknownLengthAreReducedInChunks) {
  LoopProgram program = sums({2}, {std::nullopt, "N"}, 1);
  EXPECT_EQ(longDim(program), 1);
  std::string text = traced(program);
  EXPECT_NE(text.find("tensor<1x1024xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("N mod 1024"), std::string::npos) << text;
  EXPECT_FALSE(longDim(std::get<LoopProgram>(quotients({2}, {std::nullopt, "N"}).what)));
}

TEST(Rows, OneReducedDimensionMayBeChunked) {
  LoopProgram program = sums({2}, {1 << 20}, 1);
  RowsConfiguration chosen = chooseRows(program);
  EXPECT_EQ(chosen.walks[1].chunk, 1024);
  EXPECT_TRUE(isLegal(program, chosen));
  chosen.walks[0].chunk = 2; // along which results extend
  EXPECT_FALSE(isLegal(program, chosen));
}

TEST(Rows, WhatExtendsAlongLongRowsIsAProgramOfItsOwn) {
  int temporaries = 3;
  std::vector<Piece> pieces = cutLongRows(quotients({1}, {1 << 20}), temporaries);
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(temporaries, 4);
  EXPECT_EQ(pieces[0].tensors[1].temporary, 3);
  EXPECT_EQ(pieces[1].tensors[1].temporary, 3);
  EXPECT_NE(traced(std::get<LoopProgram>(pieces[0].what)).find("combine"), std::string::npos);
  std::string quotient = traced(std::get<LoopProgram>(pieces[1].what));
  EXPECT_EQ(quotient.find("reduce"), std::string::npos) << quotient;
  EXPECT_NE(quotient.find("grid [1024]"), std::string::npos) << quotient;
  // Each of them would compute less than it costs.
  EXPECT_EQ(cutLongRows(quotients({1}, {1 << 19}), temporaries).size(), 1u);
  EXPECT_EQ(cutLongRows(quotients({8}, {1 << 20}), temporaries).size(), 1u);
}

/// Two parts of `first` and `second` rows of 1000, the second one at `offset`.
LoopProgram joined(int64_t first, int64_t second, int64_t offset) {
  LoopProgram program;
  Extent columns{1000};
  program.dims = {{first}, {second}, columns};
  program.buffers = {{"a", kernel::f32, {{first}, columns}},
                     {"b", kernel::f32, {{second}, columns}},
                     {"y", kernel::f32, {{first + second}, columns}, true}};
  for (int part : {0, 1}) {
    Step load{Step::Kind::Load}, store{Step::Kind::Store};
    load.access = {part, {{part}, {2}}};
    store.operands = {2 * part};
    store.access = {2, {{part, part * offset}, {2}}};
    store.access.axes[0].isPart = true;
    program.steps.insert(program.steps.end(), {load, store});
  }
  return program;
}

TEST(Rows, PartsBesideEachOtherAreShared) {
  LoopProgram program = joined(400, 200, 400);
  EXPECT_EQ(partDims(program), (std::vector<int>{0, 1}));
  RowsConfiguration chosen = chooseRows(program);
  EXPECT_GT(chosen.parts, 16);
  std::string text = traced(program);
  EXPECT_NE(text.find("grid [" + std::to_string(chosen.parts)), std::string::npos) << text;
  chosen.walks[1].block += 1;
  EXPECT_FALSE(isLegal(program, chosen));
}

TEST(Rows, PartsThatOverlapAreOfOneProgram) {
  LoopProgram program = joined(400, 200, 399);
  EXPECT_TRUE(partDims(program).empty());
  EXPECT_EQ(chooseRows(program).parts, 1);
}

} // namespace
} // namespace tw::kernels
