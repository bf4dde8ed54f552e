// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attention template on simulated tensor cores: sizes, layouts, masks.
#include "Block.h"
#include "SimulatedTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "unittests/Target/Templates/AttentionTruth.h"

using namespace tw;
using namespace tw::kernels;

namespace {

AttentionConfiguration block(int64_t queries, int64_t keys) {
  AttentionConfiguration configuration;
  configuration.queries = queries, configuration.keys = keys;
  return configuration;
}

/// By one block of threads, which has all programs: expects as many warp groups as keys are dealt
/// to, beside the one that loads, and no fault.
void checkDealt(const Case &c, const AttentionConfiguration &configuration,
                simulator::Order order = simulator::Order::Forwards) {
  int32_t threads = 0;
  simulator::Experiment one([&](mlir::ModuleOp module) {
    module.walk([&](mlir::LLVM::LLVMFuncOp function) {
      if (auto all = function->getAttrOfType<mlir::DenseI32ArrayAttr>("nvvm.reqntid"))
        threads = std::max(threads, all[0]);
    });
  });
  one.order = order;
  check(c, configuration);
  EXPECT_EQ(one.fault(), "");
  EXPECT_EQ(threads, 128 * (c.dealtTo + 1));
}

/// Checks it, without a fault; the threads of the kernel that multiplies on tensor cores.
int32_t threadsOfProducts(const Case &c, const AttentionConfiguration &configuration,
                          simulator::Order order = simulator::Order::Forwards) {
  int32_t threads = 0;
  simulator::Experiment one([&](mlir::ModuleOp module) {
    module.walk([&](mlir::NVVM::WgmmaMmaAsyncOp product) {
      auto function = product->getParentOfType<mlir::LLVM::LLVMFuncOp>();
      threads = function->getAttrOfType<mlir::DenseI32ArrayAttr>("nvvm.reqntid")[0];
    });
  });
  one.order = order;
  check(c, configuration);
  EXPECT_EQ(one.fault(), "");
  return threads;
}

/// Whether tensor cores did it.
bool runsOnTensorCores(const Case &c, const AttentionConfiguration &configuration) {
  int64_t before = simulator::productsSoFar();
  check(c, configuration);
  return simulator::productsSoFar() > before;
}

TEST(Attention, Full) {
  // One program of two warp groups, which begins and ends with loops of several trips.
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 128, .s = 192, .e = 64, .f = 64, .dtype = kernel::f16}},
      block(128, 64)));
  // Three programs of three, of which the last one ends beyond the queries.
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 400, .s = 256, .e = 64, .f = 64, .dtype = kernel::f16}},
      block(192, 128)));
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 2, .g = 2, .l = 128, .s = 256, .e = 128, .f = 128, .dtype = kernel::bf16}},
      block(128, 128)));
}

TEST(Attention, AnyLength) {
  // One trip; the last keys of the second product are zeros.
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 2, .g = 1, .l = 130, .s = 77, .e = 64, .f = 64, .dtype = kernel::f16}},
      block(128, 77)));
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 64, .s = 64, .e = 64, .f = 32, .dtype = kernel::f16}}, block(64, 64)));
  // Trips beside loops: the last block, and two blocks.
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 2, .g = 1, .l = 70, .s = 300, .e = 64, .f = 64, .dtype = kernel::f16}},
      block(64, 80)));
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 100, .s = 77, .e = 64, .f = 64, .dtype = kernel::bf16}},
      block(64, 48)));
}

TEST(Attention, HeadSizes) {
  for (int64_t size : {16, 80, 96, 160, 256})
    EXPECT_TRUE(runsOnTensorCores(
        {{.b = 1, .g = 1, .l = 72, .s = 96, .e = size, .f = size, .dtype = kernel::f16}},
        block(64, 32)))
        << size;
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 72, .s = 96, .e = 64, .f = 112, .dtype = kernel::f16}},
      block(64, 48)));
}

/// Multiples of 8 but not of 16: of queries and keys TMA brings zeros behind them, and values are
/// stored in pieces of which the last one has 8 columns.
TEST(Attention, OddHeadSizes) {
  for (int64_t size : {8, 40, 72, 88, 120, 248})
    EXPECT_TRUE(runsOnTensorCores(
        {{.b = 2, .g = 2, .l = 72, .s = 96, .e = size, .f = size, .dtype = kernel::f16}},
        block(64, 32)))
        << size;
  for (auto [depth, width] : {std::pair<int64_t, int64_t>{72, 64}, {64, 72}, {104, 40}})
    EXPECT_TRUE(runsOnTensorCores(
        {{.b = 1, .g = 1, .l = 72, .s = 96, .e = depth, .f = width, .dtype = kernel::bf16}},
        block(64, 48)))
        << depth << " and " << width;
  for (bool isCausal : {false, true})
    for (Mask mask : {Mask::None, Mask::Added})
      for (const char *unknown : {"", "LS"})
        EXPECT_TRUE(runsOnTensorCores({{.b = 2,
                                        .g = 2,
                                        .l = 150,
                                        .s = 150,
                                        .e = 72,
                                        .f = 72,
                                        .isCausal = isCausal,
                                        .hasSums = true,
                                        .mask = mask,
                                        .dtype = kernel::f16,
                                        .unknown = unknown}},
                                      block(64, 64)))
            << isCausal << ", " << unknown;
}

TEST(Attention, Causal) {
  // Programs that begin with the first loop, and such that skip it.
  EXPECT_TRUE(runsOnTensorCores({{.b = 1,
                                  .g = 2,
                                  .l = 320,
                                  .s = 320,
                                  .e = 64,
                                  .f = 64,
                                  .isCausal = true,
                                  .dtype = kernel::f16}},
                                block(128, 128)));
  EXPECT_TRUE(runsOnTensorCores({{.b = 1,
                                  .g = 1,
                                  .l = 200,
                                  .s = 150,
                                  .e = 64,
                                  .f = 64,
                                  .isCausal = true,
                                  .dtype = kernel::bf16}},
                                block(64, 64)));
}

TEST(Attention, Masks) {
  for (Mask mask : {Mask::Seen, Mask::Added})
    for (int64_t keys : {64, 77})
      EXPECT_TRUE(runsOnTensorCores({{.b = 2,
                                      .g = 2,
                                      .l = 70,
                                      .s = keys == 64 ? 192 : keys,
                                      .e = 64,
                                      .f = 64,
                                      .hasSums = true,
                                      .mask = mask,
                                      .isMaskOfKeys = mask == Mask::Added,
                                      .dtype = kernel::f16}},
                                    block(64, keys)));
}

/// Keys, and queries, that only the call brings: fewer than a block, whole blocks, and a rest.
TEST(Attention, UnknownLengths) {
  for (int64_t keys : {5, 64, 150})
    for (const char *unknown : {"S", "LS"})
      EXPECT_TRUE(runsOnTensorCores({{.b = 2,
                                      .g = 2,
                                      .l = 70,
                                      .s = keys,
                                      .e = 64,
                                      .f = 64,
                                      .hasSums = true,
                                      .dtype = kernel::f16,
                                      .unknown = unknown}},
                                    block(64, 64)))
          << keys;
  EXPECT_TRUE(runsOnTensorCores({{.b = 1,
                                  .g = 1,
                                  .l = 70,
                                  .s = 150,
                                  .e = 64,
                                  .f = 64,
                                  .mask = Mask::Added,
                                  .dtype = kernel::bf16,
                                  .unknown = "LS"}},
                                block(64, 64)));
  for (int64_t length : {40, 128, 200})
    EXPECT_TRUE(runsOnTensorCores({{.b = 1,
                                    .g = 2,
                                    .l = length,
                                    .s = length,
                                    .e = 64,
                                    .f = 64,
                                    .isCausal = true,
                                    .dtype = kernel::f16,
                                    .unknown = "LS"}},
                                  block(128, 64)))
        << length;
}

AttentionConfiguration split(int64_t keys) {
  AttentionConfiguration configuration = block(64, keys);
  configuration.splitsKeys = true;
  return configuration;
}

/// Programs side by side, and such whose keys are dealt to two or three warp groups, in turns: five
/// programs a head, of which the last one ends beyond the queries. Trips come out even, or warp
/// groups have one less than others, or one at all; stages are as many as warp groups, or more.
TEST(Attention, KeysDealtToWarpGroups) {
  using simulator::Order;
  constexpr Order orders[] = {Order::Forwards, Order::Backwards, Order::GroupsForwards,
                              Order::GroupsBackwards};
  for (int64_t warpGroups : {2, 3})
    for (int64_t stages = warpGroups; stages <= 4; ++stages)
      for (int64_t trips : {3, 4, 5, 8}) {
        SCOPED_TRACE(testing::Message() << warpGroups << " warp groups, " << stages << " stages, "
                                        << trips << " trips");
        checkDealt({{.b = 1,
                     .g = 2,
                     .l = 300,
                     .s = 32 * trips,
                     .e = 64,
                     .f = 64,
                     .hasSums = true,
                     .dtype = kernel::f16},
                    warpGroups,
                    stages},
                   split(32), orders[size_t(stages + trips) % 4]);
      }
  checkDealt({{.b = 1, .g = 1, .l = 320, .s = 384, .e = 128, .f = 96, .dtype = kernel::bf16}, 2, 2},
             split(64));
}

AttentionConfiguration few(int64_t queries, int64_t groups, int64_t keys) {
  AttentionConfiguration configuration = block(queries, keys);
  configuration.groups = groups;
  return configuration;
}

/// As where a token is decoded: one query of each of several heads that share keys, of one head
/// alone, or some queries.
TEST(Attention, FewQueries) {
  for (int64_t keys : {48, 200})
    for (auto [groups, queries] : {std::pair<int64_t, int64_t>{4, 1}, {1, 1}, {1, 16}})
      for (Mask mask : {Mask::None, Mask::Added}) {
        SCOPED_TRACE(testing::Message() << groups << " groups of " << queries << ", " << keys);
        EXPECT_TRUE(runsOnTensorCores(
            {{.b = 3,
              .g = groups,
              .l = queries,
              .s = keys,
              .e = 64,
              .f = 64,
              .hasSums = true,
              .mask = mask,
              .dtype = mask == Mask::None ? kernel::f16 : kernel::bf16}},
            few(queries, queries == 1 ? groups : 1, std::min<int64_t>(keys, 64))));
      }
  // Causal ones, and keys whose number only the call brings.
  EXPECT_TRUE(runsOnTensorCores({{.b = 2,
                                  .g = 1,
                                  .l = 24,
                                  .s = 160,
                                  .e = 64,
                                  .f = 64,
                                  .isCausal = true,
                                  .dtype = kernel::f16}},
                                few(24, 1, 64)));
  EXPECT_TRUE(runsOnTensorCores({{.b = 2,
                                  .g = 4,
                                  .l = 1,
                                  .s = 150,
                                  .e = 128,
                                  .f = 128,
                                  .dtype = kernel::f16,
                                  .unknown = "S"}},
                                few(1, 4, 64)));
}

TEST(Attention, FewQueriesWhoseKeysAreDealt) {
  for (int64_t warpGroups : {2, 3})
    for (auto [groups, queries] : {std::pair<int64_t, int64_t>{4, 1}, {1, 1}, {1, 16}}) {
      AttentionConfiguration own = few(queries, queries == 1 ? groups : 1, 32);
      own.splitsKeys = true;
      checkDealt({{.b = 3,
                   .g = groups,
                   .l = queries,
                   .s = 160,
                   .e = 64,
                   .f = 64,
                   .hasSums = true,
                   .dtype = kernel::f16},
                  warpGroups,
                  warpGroups},
                 own);
    }
}

/// Keys dealt to programs, whose states another launch combines; and, within each, to warp groups.
TEST(Attention, KeysDealtToPrograms) {
  using simulator::Order;
  for (int64_t warpGroups : {1, 2, 3})
    for (int64_t parts : {2, 5})
      for (auto [groups, queries] : {std::pair<int64_t, int64_t>{4, 1}, {1, 1}, {1, 16}, {1, 70}}) {
        SCOPED_TRACE(testing::Message() << warpGroups << " warp groups, " << parts << " parts, "
                                        << groups << " groups of " << queries);
        AttentionConfiguration own =
            few(std::min<int64_t>(queries, 64), queries == 1 ? groups : 1, 32);
        own.splitsKeys = true;
        EXPECT_EQ(threadsOfProducts({{.b = 2,
                                      .g = groups,
                                      .l = queries,
                                      .s = 32 * 3 * parts,
                                      .e = 64,
                                      .f = 64,
                                      .hasSums = true,
                                      .dtype = kernel::f16},
                                     warpGroups,
                                     /*stages=*/3,
                                     parts},
                                    own,
                                    parts == 2 ? Order::GroupsForwards : Order::GroupsBackwards),
                  128 * (warpGroups + 1));
      }
}

TEST(Attention, MaskedKeysDealtToPrograms) {
  AttentionConfiguration own = few(1, 4, 64);
  own.splitsKeys = true;
  EXPECT_EQ(threadsOfProducts({{.b = 2,
                                .g = 4,
                                .l = 1,
                                .s = 256,
                                .e = 64,
                                .f = 64,
                                .mask = Mask::Added,
                                .dtype = kernel::bf16},
                               /*dealtTo=*/1,
                               /*stages=*/2,
                               /*parts=*/2},
                              own),
            256);
}

/// Keys whose number only the call brings, dealt to programs and to the warp groups of each: some
/// then have no trip, or one less than others, and the last block ends somewhere.
TEST(Attention, UnknownKeysDealtToPrograms) {
  using simulator::Order;
  constexpr Order orders[] = {Order::Forwards, Order::Backwards, Order::GroupsForwards,
                              Order::GroupsBackwards};
  size_t number = 0;
  for (int64_t warpGroups : {1, 2, 3})
    for (int64_t parts : {1, 2, 5})
      for (int64_t keys : {1, 7, 64, 100, 330, 1000}) {
        auto [groups, queries] =
            std::array<std::pair<int64_t, int64_t>, 3>{{{4, 1}, {1, 1}, {1, 16}}}[number % 3];
        SCOPED_TRACE(testing::Message() << warpGroups << " warp groups, " << parts << " parts, "
                                        << groups << " groups of " << queries << ", " << keys);
        Case c{{.b = 2,
                .g = groups,
                .l = queries,
                .s = keys,
                .e = 64,
                .f = 64,
                .hasSums = true,
                .dtype = number % 2 ? kernel::f16 : kernel::bf16,
                .unknown = "S"},
               warpGroups,
               /*stages=*/warpGroups == 1 ? 2 : warpGroups,
               parts};
        AttentionConfiguration own = few(queries, queries == 1 ? groups : 1, 32);
        own.splitsKeys = own.isOneLoop = true;
        EXPECT_EQ(threadsOfProducts(c, own, orders[number++ % 4]), 128 * (warpGroups + 1));
      }
}

/// As many keys as a text has, and a head size for which registers are few.
TEST(Attention, UnknownKeysOfACache) {
  for (auto [keys, size] : {std::pair<int64_t, int64_t>{4096, 64}, {700, 128}, {300, 72}}) {
    AttentionConfiguration own = few(1, 4, 64);
    own.splitsKeys = own.isOneLoop = true;
    Case c{{.b = 1,
            .g = 4,
            .l = 1,
            .s = keys,
            .e = size,
            .f = size,
            .dtype = kernel::bf16,
            .unknown = "S"},
           /*dealtTo=*/2,
           /*stages=*/2,
           /*parts=*/16};
    EXPECT_EQ(threadsOfProducts(c, own), 384) << keys;
  }
}

/// With a mask, which leaves room for one warp group, and may hide all keys of a part.
TEST(Attention, MaskedUnknownKeysDealtToPrograms) {
  for (Mask mask : {Mask::Added, Mask::Seen})
    for (int64_t keys : {5, 200}) {
      AttentionConfiguration own = few(1, 4, 32);
      own.splitsKeys = own.isOneLoop = true;
      Case c{{.b = 2,
              .g = 4,
              .l = 1,
              .s = keys,
              .e = 64,
              .f = 64,
              .mask = mask,
              .dtype = kernel::f16,
              .unknown = "S"},
             /*dealtTo=*/1,
             /*stages=*/2,
             /*parts=*/4};
      EXPECT_EQ(threadsOfProducts(c, own), 256) << keys;
    }
}

/// The next launch may begin late whatever the loop: its results do not depend on it.
TEST(Attention, LateTrigger) {
  for (int64_t warpGroups : {2, 3}) {
    AttentionConfiguration own = block(64, 64);
    own.splitsKeys = true;
    EXPECT_EQ(threadsOfProducts(
                  {{.b = 2, .g = 2, .l = 64, .s = 384, .e = 64, .f = 64, .dtype = kernel::bf16},
                   /*dealtTo=*/warpGroups,
                   /*stages=*/warpGroups,
                   /*parts=*/1,
                   /*isTriggerLate=*/true},
                  own),
              128 * (warpGroups + 1));
  }
}

/// All blocks of keys in one loop, which hides what is beyond the end or later than the query.
TEST(Attention, OneLoop) {
  AttentionConfiguration one = block(64, 48);
  one.isOneLoop = true;
  for (bool isCausal : {false, true})
    for (const char *unknown : {"", "S", "LS"})
      for (int64_t keys : {100, 150}) {
        SCOPED_TRACE(testing::Message() << isCausal << ", " << unknown << ", " << keys);
        EXPECT_TRUE(runsOnTensorCores({{.b = 1,
                                        .g = 2,
                                        .l = 130,
                                        .s = keys,
                                        .e = 64,
                                        .f = 64,
                                        .isCausal = isCausal,
                                        .hasSums = true,
                                        .dtype = kernel::f16,
                                        .unknown = unknown}},
                                      one));
      }
  EXPECT_TRUE(runsOnTensorCores(
      {{.b = 1, .g = 1, .l = 64, .s = 100, .e = 256, .f = 256, .dtype = kernel::bf16}}, one));
}

TEST(Attention, WhatHasThePlainLowering) {
  Case small{{.b = 1, .g = 1, .l = 64, .s = 64, .e = 60, .f = 64, .dtype = kernel::f16}};
  // Rows of 120 bytes.
  EXPECT_FALSE(runsOnTensorCores(small, block(64, 64)));
  small.e = 64;
  AttentionConfiguration transposed = block(64, 64);
  transposed.isTransposed = true;
  EXPECT_FALSE(runsOnTensorCores(small, transposed));
}

} // namespace
