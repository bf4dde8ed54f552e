// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/LoopConfiguration.h"
#include "GraphToTile/Analysis/Subkernels/LoopProperties.h"
#include "GraphToTile/Configuration/SplitReductions.h"
#include "Target/CPU/Configuration/LoopCost.h"
#include <gtest/gtest.h>

namespace tw::conversion {
namespace {

using Kind = Statement::Kind;
using target::cpu::chooseLoops;
using target::cpu::longDim;

bool isLegal(const LoopProgram &program, const LoopConfiguration &configuration) {
  return holds(loopConstraints(program), fieldsOf(configuration).symbols());
}

Source memory(Access access) { return {{}, {}, std::move(access), {}}; }

/// y[m] = sum of x[m, n], or, `along` 0, y[n].
LoopProgram sums(Extent m, Extent n, int along) {
  LoopProgram program;
  program.dims = {m, n};
  program.buffers = {{"x", kernel::f32, {m, n}}, {"y", kernel::f32, {along ? m : n}, true}};
  Statement sum{Kind::Reduce};
  sum.sources = {memory({0, {{0}, {1}}})};
  sum.dims = {along};
  sum.results = {{1 - along}};
  program.statements = {sum};
  program.stores = {{{0, 0}, {1, {{1 - along}}}}};
  return program;
}

/// y[m, n] = x[m, n] / sum of x[m, n]
Subkernel quotients(Extent m, Extent n) {
  LoopProgram program = sums(m, n, 1);
  Statement divided{Kind::Map};
  divided.sources = {memory({0, {{0}, {1}}}), {{}, {0, 0}, {}, {}}};
  divided.results = {{0, 1}};
  program.statements.push_back(divided);
  program.buffers[1].shape.push_back(n);
  program.stores = {{{1, 0}, {1, {{0}, {1}}}}};
  return {program, {TensorUse(), TensorUse()}, {}};
}

TEST(LoopConfiguration, OnlyWhatNothingReducesIsCut) {
  EXPECT_EQ(parallelDims(sums({10}, {20}, 1)), (std::vector<bool>{true, false}));
  EXPECT_EQ(parallelDims(sums({10}, {20}, 0)), (std::vector<bool>{false, true}));
}

TEST(LoopConfiguration, ConstraintsOnBlocks) {
  LoopProgram program = sums({10}, {20}, 1);
  LoopConfiguration chosen = chooseLoops(program);
  EXPECT_TRUE(isLegal(program, chosen));
  chosen.tilings[1].block = 8; // a part of what is summed
  EXPECT_FALSE(isLegal(program, chosen));
  chosen.tilings[1].block = 0;
  EXPECT_TRUE(isLegal(program, chosen));
  chosen.tilings[0].block = 0; // no grid
  EXPECT_FALSE(isLegal(program, chosen));
  chosen.tilings[0] = {4, 2};
  EXPECT_TRUE(isLegal(program, chosen));
  program.unitDims = {0};
  EXPECT_FALSE(isLegal(program, chosen));
}

TEST(LoopConfiguration, FieldsByTheirNames) {
  LoopProgram program = sums({10}, {20}, 1);
  LoopConfiguration chosen = chooseLoops(program);
  chosen.tilings[1].chunk = 7;
  Fields fields = fieldsOf(chosen);
  EXPECT_EQ(fields.lists["chunk"][1], 7);
  EXPECT_EQ(fieldsOf(loopsFrom(fields, program)), fields);
}

TEST(LoopConfiguration, ARowAProgram) {
  LoopConfiguration chosen = chooseLoops(sums({std::nullopt, "M"}, {20}, 1));
  EXPECT_EQ(chosen.tilings[0].block, 1);
  EXPECT_EQ(chosen.tilings[1].block, 0);
}

TEST(LoopConfiguration, BodiesWithLoopsAreSharedEarlier) {
  LoopProgram program = sums({4096}, {64}, 1);
  EXPECT_EQ(chooseLoops(program).tilings[0].programs, 256);
  program.statements[0].carriedDims = {0}; // as of an embedding bag
  EXPECT_EQ(chooseLoops(program).tilings[0].programs, 64);
}

TEST(LoopConfiguration, SumsOfColumnsTakeSeveralColumns) {
  LoopConfiguration chosen = chooseLoops(sums({100}, {std::nullopt, "N"}, 0));
  EXPECT_EQ(chosen.tilings[0].block, 0);
  EXPECT_EQ(chosen.tilings[1].block, 64);
}

/// y[t, i, o] = x[o, i, t]
LoopProgram turned(int64_t o, int64_t i, int64_t t) {
  LoopProgram program;
  program.dims = {{t}, {i}, {o}};
  program.buffers = {{"x", kernel::f32, {{o}, {i}, {t}}},
                     {"y", kernel::f32, {{t}, {i}, {o}}, true}};
  Statement copy{Kind::Copy};
  copy.sources = {memory({0, {{2}, {1}, {0}}})};
  copy.target = Access{1, {{0}, {1}, {2}}};
  program.statements = {copy};
  return program;
}

TEST(LoopConfiguration, ShortRowsThatAreTransposedGoOnAlongTheNextAxis) {
  LoopConfiguration chosen = chooseLoops(turned(512, 512, 9));
  EXPECT_EQ(chosen.tilings[0].block, 9);
  EXPECT_EQ(chosen.tilings[1].block, 16); // whole cache lines of 16 x 9
  EXPECT_EQ(chosen.tilings[2].block, 64);
  EXPECT_EQ(chooseLoops(turned(512, 512, 64)).tilings[1].block, 1); // has whole lines already
}

TEST(LoopConfiguration, FewLongRowsAreReducedInChunks) {
  LoopProgram program = sums({2}, {(1 << 20) + 100}, 1);
  EXPECT_EQ(longDim(program), 1);
  EXPECT_EQ(chooseLoops(program).tilings[1].chunk, 1024);
  EXPECT_FALSE(longDim(sums({2}, {1 << 16}, 1)));                 // short
  EXPECT_FALSE(longDim(sums({32}, {1 << 20}, 1)));                // many
  EXPECT_FALSE(longDim(sums({std::nullopt, "M"}, {1 << 20}, 1))); // perhaps
}

TEST(LoopConfiguration, RowsOfUnknownLengthAreReducedInChunks) {
  LoopProgram program = sums({2}, {std::nullopt, "N"}, 1);
  EXPECT_EQ(longDim(program), 1);
  EXPECT_EQ(chooseLoops(program).tilings[1].chunk, 1024);
  EXPECT_FALSE(longDim(std::get<LoopProgram>(quotients({2}, {std::nullopt, "N"}).what)));
}

TEST(LoopConfiguration, OneReducedDimensionMayBeChunked) {
  LoopProgram program = sums({2}, {1 << 20}, 1);
  LoopConfiguration chosen = chooseLoops(program);
  EXPECT_EQ(chosen.tilings[1].chunk, 1024);
  EXPECT_TRUE(isLegal(program, chosen));
  chosen.tilings[0].chunk = 2; // along which results extend
  EXPECT_FALSE(isLegal(program, chosen));
}

TEST(SplitReductions, PositionsInALoop) {
  using enum LoopPosition;
  EXPECT_EQ(positionsInLoop(sums({2}, {64}, 1), 1), std::vector{Reduced});
  EXPECT_TRUE(positionsInLoop(sums({2}, {64}, 1), 0).empty()); // nothing is reduced along it
  LoopProgram program = sums({2}, {64}, 1); // of squares, of which the root is stored
  program.statements.insert(program.statements.begin(), Statement{Kind::Map});
  program.statements[0].sources = {memory({0, {{0}, {1}}})};
  program.statements[0].results = {{0, 1}};
  program.statements[1].sources = {{{}, {0, 0}, {}, {}}};
  program.statements.push_back({Kind::Map});
  program.statements[2].sources = {{{}, {1, 0}, {}, {}}};
  program.statements[2].results = {{0}};
  program.stores[0].value = {2, 0};
  EXPECT_EQ(positionsInLoop(program, 1), (std::vector{Inside, Reduced, Behind}));
  program.statements[0].hasCheck = true; // memory may not be written in it
  EXPECT_TRUE(positionsInLoop(program, 1).empty());
}

TEST(SplitReductions, WhatExtendsAlongLongRowsIsAProgramOfItsOwn) {
  int temporaries = 3;
  std::vector<Subkernel> parts = splitReductions(quotients({1}, {1 << 20}), 1, temporaries);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(temporaries, 4);
  EXPECT_EQ(parts[0].tensors[1].temporary, 3);
  EXPECT_EQ(parts[1].tensors[1].temporary, 3);
  auto &sum = std::get<LoopProgram>(parts[0].what),
       &quotient = std::get<LoopProgram>(parts[1].what);
  EXPECT_EQ(sum.statements[0].kind, Kind::Reduce);
  ASSERT_EQ(quotient.statements.size(), 1u);
  EXPECT_EQ(quotient.statements[0].kind, Kind::Map);
  EXPECT_TRUE(quotient.statements[0].sources[1].access); // the sum, from memory
  // Each of them would compute less than it costs.
  auto isLong = [](int64_t m, int64_t n) {
    return longDim(std::get<LoopProgram>(quotients({m}, {n}).what)).has_value();
  };
  EXPECT_TRUE(isLong(1, 1 << 20));
  EXPECT_FALSE(isLong(1, 1 << 16));
  EXPECT_FALSE(isLong(8, 1 << 20));
}

TEST(SplitReductions, AReductionThatIsStoredTooIsComputedOnce) {
  Subkernel subkernel = quotients({1}, {1 << 20});
  auto &program = std::get<LoopProgram>(subkernel.what);
  program.buffers.push_back({"z", kernel::f32, {{1}}, true});
  program.stores.push_back({{0, 0}, {2, {{0}}}});
  subkernel.tensors.push_back({});
  int temporaries = 0;
  std::vector<Subkernel> parts = splitReductions(subkernel, 1, temporaries);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(std::get<LoopProgram>(parts[0].what).stores.size(), 2u); // to its temporary, and to z
  EXPECT_EQ(std::get<LoopProgram>(parts[1].what).stores.size(), 1u);
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
    Statement copy{Kind::Copy};
    copy.sources = {memory({part, {{part}, {2}}})};
    copy.target = Access{2, {{part, part * offset}, {2}}};
    copy.target->axes[0].isPartial = true;
    program.statements.push_back(copy);
  }
  return program;
}

TEST(LoopConfiguration, PartsBesideEachOtherAreShared) {
  LoopProgram program = joined(400, 200, 400);
  EXPECT_EQ(partDims(program), (std::vector<int>{0, 1}));
  LoopConfiguration chosen = chooseLoops(program);
  EXPECT_GT(chosen.parts, 16);
  EXPECT_TRUE(isLegal(program, chosen));
  chosen.tilings[1].block += 1;
  EXPECT_FALSE(isLegal(program, chosen));
}

TEST(LoopConfiguration, PartsThatOverlapAreOfOneProgram) {
  LoopProgram program = joined(400, 200, 399);
  EXPECT_TRUE(partDims(program).empty());
  EXPECT_EQ(chooseLoops(program).parts, 1);
}

} // namespace
} // namespace tw::conversion
