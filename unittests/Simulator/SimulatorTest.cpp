// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator finds what it is there to find: each fault is planted.
#include "Block.h"
#include "TensorMap.h"
#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tw::simulator {
namespace {

constexpr Launch launch{2, 64, 64 * sizeof(uint32_t)};

/// Each thread writes its number, waits if it does as it should, and reads its neighbour's.
template <bool waits>
void exchange(const uint64_t *arguments, Thread *self) {
  auto *shared = static_cast<uint32_t *>(self->shared);
  shared[self->thread] = 100 * self->block + self->thread;
  if (waits)
    self->barrier(self);
  auto *result = reinterpret_cast<uint32_t *>(arguments[0]);
  result[self->block * launch.threads + self->thread] = shared[(self->thread + 1) % launch.threads];
}

std::vector<uint32_t> run(Kernel kernel, Order order) {
  std::vector<uint32_t> result(size_t(launch.blocks) * launch.threads);
  uint64_t argument = reinterpret_cast<uint64_t>(result.data());
  for (uint32_t block = 0; block < launch.blocks; ++block)
    EXPECT_EQ(runBlock(kernel, &argument, launch, block, order), nullptr);
  return result;
}

TEST(Simulator, ThreadsWaitForEachOther) {
  std::vector<uint32_t> result = run(exchange<true>, Order::Forwards);
  EXPECT_EQ(result[0], 1u);
  EXPECT_EQ(result[63], 0u);
  EXPECT_EQ(result[64 + 5], 106u);
  EXPECT_EQ(run(exchange<true>, Order::Backwards), result);
}

TEST(Simulator, AMissingBarrierDependsOnTheOrder) {
  EXPECT_NE(run(exchange<false>, Order::Forwards), run(exchange<false>, Order::Backwards));
}

TEST(Simulator, ABarrierThatNotAllReachIsFound) {
  Kernel kernel = [](const uint64_t *, Thread *self) {
    if (self->thread % 2)
      self->barrier(self);
  };
  const char *fault = runBlock(kernel, nullptr, launch, 0);
  ASSERT_NE(fault, nullptr);
  EXPECT_STREQ(fault, "some threads of a block have ended and others wait at a barrier");
}

/// Half of the threads come to a barrier without waiting, the other half waits for them.
template <bool comes>
void handOver(const uint64_t *arguments, Thread *self) {
  int64_t operands[2] = {3, 64};
  auto *shared = static_cast<uint32_t *>(self->shared);
  auto *result = reinterpret_cast<uint32_t *>(arguments[0]);
  if (self->thread < 32) {
    shared[self->thread] = 7 * self->thread;
    if (comes)
      self->operations[ArriveAtBarrier](self, operands);
    return;
  }
  self->operations[Barrier](self, operands);
  int64_t lanes[2] = {shared[self->thread - 32], 3};
  self->operations[FromLane](self, lanes);
  result[self->block * launch.threads + self->thread] = uint32_t(lanes[0]);
}

TEST(Simulator, SomeThreadsComeAndOthersWait) {
  for (Order order : {Order::Forwards, Order::Backwards}) {
    std::vector<uint32_t> result = run(handOver<true>, order);
    for (uint32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(result[32 + lane], 7 * (lane ^ 3));
  }
  std::vector<uint32_t> result(size_t(launch.blocks) * launch.threads);
  uint64_t argument = reinterpret_cast<uint64_t>(result.data());
  const char *fault = runBlock(handOver<false>, &argument, launch, 0);
  ASSERT_NE(fault, nullptr);
  EXPECT_STREQ(fault, "deadlock: all threads wait for each other");
}

/// Every thread gives its neighbour in the warp a number; the other warp ends before.
template <bool waits>
void exchangeInWarp(const uint64_t *arguments, Thread *self) {
  auto *shared = static_cast<uint32_t *>(self->shared);
  auto *result = reinterpret_cast<uint32_t *>(arguments[0]);
  if (self->thread >= 32)
    return;
  shared[self->thread] = 5 * self->thread;
  if (waits)
    self->operations[SyncWarp](self, nullptr);
  result[self->block * launch.threads + self->thread] = shared[self->thread ^ 1];
}

TEST(Simulator, AWarpWaitsForItself) {
  std::vector<uint32_t> result = run(exchangeInWarp<true>, Order::Forwards);
  EXPECT_EQ(result[6], 35u);
  EXPECT_EQ(run(exchangeInWarp<true>, Order::Backwards), result);
  EXPECT_NE(run(exchangeInWarp<false>, Order::Forwards),
            run(exchangeInWarp<false>, Order::Backwards));
}

TEST(Simulator, BarriersAreEvenAtTheEnd) {
  Kernel kernel = [](const uint64_t *arguments, Thread *self) {
    int64_t operands[2] = {3, 128};
    for (uint64_t i = 0; i < arguments[0]; ++i)
      self->operations[ArriveAtBarrier](self, operands);
  };
  uint64_t times = 1;
  const char *fault = runBlock(kernel, &times, launch, 0);
  ASSERT_NE(fault, nullptr);
  EXPECT_STREQ(fault, "a block has ended while a barrier waits for more threads");
  times = 2;
  fault = runBlock(kernel, &times, launch, 0);
  ASSERT_NE(fault, nullptr);
  EXPECT_STREQ(fault, "a thread comes to a barrier again before all have come");
}

//===--- asynchronous operations ----------------------------------------===//

/// What a small product does wrong.
enum class Fault {
  None,
  WrongSwizzle, // its descriptors say another one than the tensor maps
  NoWait,       // for TMA
  EarlyRelease, // a stage is given back while it is read
  NoProductFence,
  NoProductWait, // before sums are read
  NoProxyFence,  // before TMA stores what threads wrote
  NoStoreWait,   // before the block ends
  LostArrival,   // a stage is never given back
};

constexpr uint32_t tile = 64, trips = 3; // 64 x 64 products of 64 terms, one stage
constexpr int64_t aAt = 0, bAt = 8192, outAt = 16384, fullAt = 24576, emptyAt = 24584;
constexpr Launch productLaunch{1, 256, 24592};

template <typename... Operands>
void call(Thread *self, Operations operation, Operands... operands) {
  int64_t all[] = {int64_t(operands)..., 0};
  self->operations[operation](self, all);
}

/// Thread 0 loads, threads 128 to 255 multiply: c = a b, a and b of f16 with the sum innermost.
template <Fault fault>
void multiplyTiles(const uint64_t *maps, Thread *self) {
  auto at = [&](int64_t offset) {
    return int64_t(reinterpret_cast<uintptr_t>(self->shared)) + offset;
  };
  if (self->thread == 0) {
    call(self, InitBarrier, at(fullAt), 1);
    call(self, InitBarrier, at(emptyAt), 1);
  }
  call(self, Barrier, 0, 0);
  if (self->thread == 0)
    for (int64_t trip = 0; trip < trips; ++trip) {
      call(self, WaitForBarrier, at(emptyAt), (trip & 1) ^ 1);
      call(self, ArriveExpecting, at(fullAt), 16384);
      call(self, LoadTile, at(aAt), maps[0], at(fullAt), trip * tile, 0);
      call(self, LoadTile, at(bAt), maps[1], at(fullAt), trip * tile, 0);
    }
  if (self->thread < 128)
    return;
  bool isLeader = self->thread == 128;
  std::array<float, 32> sums = {};
  int64_t mode = fault == Fault::WrongSwizzle ? 2 : 1;
  auto descriptor = [&](int64_t offset) {
    return offset >> 4 | int64_t(1) << 16 | int64_t(64) << 32 | mode << 62;
  };
  for (int64_t trip = 0; trip < trips; ++trip) {
    if (fault != Fault::NoWait)
      call(self, WaitForBarrier, at(fullAt), trip & 1);
    if (fault != Fault::NoProductFence)
      call(self, FenceProducts);
    for (int64_t k = 0; k < 4; ++k)
      call(self, Multiply, descriptor(aAt + 32 * k), descriptor(bAt + 32 * k),
           reinterpret_cast<int64_t>(sums.data()), tile, OfF16, 0, 0, trip + k > 0, 0);
    call(self, CommitProducts);
    if (isLeader && fault == Fault::EarlyRelease)
      call(self, Arrive, at(emptyAt), 1);
    if (fault == Fault::EarlyRelease)
      call(self, Barrier, 1, 128);
    if (fault != Fault::NoProductWait)
      call(self, WaitForProducts, 0);
    if (isLeader && fault != Fault::EarlyRelease && fault != Fault::LostArrival)
      call(self, Arrive, at(emptyAt), 1);
  }
  call(self, ReadSums, 0);
  for (uint32_t i = 0; i < 4; ++i) { // 16 columns at a time
    std::array<int64_t, 4> pairs = {};
    for (uint32_t q = 0; q < 4; ++q)
      pairs[q] =
          __builtin_bit_cast(uint32_t, std::array<_Float16, 2>{_Float16(sums[8 * i + 2 * q]),
                                                               _Float16(sums[8 * i + 2 * q + 1])});
    uint32_t lane = self->thread % 32, row = (self->thread - 128) / 32 * 16 + lane % 16;
    int64_t unit = (2 * i + lane / 16) ^ (row % 8);
    call(self, StoreMatrices, at(outAt + row * 128 + unit * 16), 4, pairs[0], pairs[1], pairs[2],
         pairs[3]);
  }
  if (fault != Fault::NoProxyFence)
    call(self, FenceProxy);
  call(self, Barrier, 1, 128);
  if (!isLeader)
    return;
  call(self, StoreTile, maps[2], at(outAt), 0, 0);
  call(self, CommitStores);
  if (fault != Fault::NoStoreWait)
    call(self, WaitForStores, 0);
}

struct Outcome {
  std::string fault;
  bool isRight;
};

Outcome product(Kernel kernel, Order order) {
  constexpr uint32_t length = tile * trips - 8; // zeros beyond
  std::vector<_Float16> a(tile * length), b(tile * length), c(tile * tile);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = _Float16(float(i * 7 % 11) - 5);
    b[i] = _Float16(float(i * 5 % 13) - 6);
  }
  std::array<TensorMap, 3> maps;
  std::array<uint64_t, 3> arguments = {};
  for (size_t i = 0; i < 3; ++i) {
    auto &data = i == 0 ? a : i == 1 ? b : c;
    uint64_t columns = i == 2 ? tile : length;
    tw_tensor_map map = {reinterpret_cast<uint64_t>(data.data()),
                         2,
                         TW_MAP_F16,
                         128,
                         {columns, tile},
                         {2, 2 * columns},
                         {64, 64}};
    EXPECT_EQ(encode(map, maps[i]), nullptr);
    arguments[i] = reinterpret_cast<uint64_t>(&maps[i]);
  }
  const char *fault = runBlock(kernel, arguments.data(), productLaunch, 0, order);
  bool isRight = true;
  for (uint32_t row = 0; row < tile; ++row)
    for (uint32_t column = 0; column < tile; ++column) {
      float sum = 0;
      for (uint32_t k = 0; k < length; ++k)
        sum += float(a[row * length + k]) * float(b[column * length + k]);
      isRight = isRight && float(c[row * tile + column]) == float(_Float16(sum));
    }
  return {fault ? fault : "", isRight};
}

class Asynchrony : public testing::TestWithParam<Order> {};

TEST_P(Asynchrony, AProductIsRight) {
  Outcome outcome = product(multiplyTiles<Fault::None>, GetParam());
  EXPECT_EQ(outcome.fault, "");
  EXPECT_TRUE(outcome.isRight);
}

TEST_P(Asynchrony, AWrongSwizzleIsAWrongResult) {
  EXPECT_FALSE(product(multiplyTiles<Fault::WrongSwizzle>, GetParam()).isRight);
}

TEST_P(Asynchrony, FaultsAreFound) {
  auto faultOf = [](Kernel kernel) { return product(kernel, GetParam()).fault; };
  EXPECT_EQ(faultOf(multiplyTiles<Fault::NoWait>),
            "shared memory is read before TMA has filled it");
  if (GetParam() != Order::GroupsBackwards) // where products are waited for before anybody loads
    EXPECT_EQ(faultOf(multiplyTiles<Fault::EarlyRelease>),
              "TMA fills a stage that products are still reading");
  EXPECT_EQ(faultOf(multiplyTiles<Fault::NoProductFence>),
            "a warp group multiplies without wgmma.fence");
  EXPECT_EQ(faultOf(multiplyTiles<Fault::NoProxyFence>),
            "what a thread wrote is read through the asynchronous proxy without a fence");
  EXPECT_EQ(faultOf(multiplyTiles<Fault::NoStoreWait>),
            "a block has ended while TMA reads its shared memory");
  EXPECT_EQ(faultOf(multiplyTiles<Fault::LostArrival>),
            "deadlock: all threads wait for each other");
  // Whoever is first: TMA fills the stage again, or the sums are read.
  EXPECT_NE(faultOf(multiplyTiles<Fault::NoProductWait>), "");
}

INSTANTIATE_TEST_SUITE_P(Orders, Asynchrony,
                         testing::Values(Order::Forwards, Order::Backwards, Order::GroupsForwards,
                                         Order::GroupsBackwards));

} // namespace
} // namespace tw::simulator
