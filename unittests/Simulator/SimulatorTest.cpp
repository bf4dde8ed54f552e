// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator finds what it is there to find: each fault is planted.
#include "Block.h"
#include <gtest/gtest.h>
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

} // namespace
} // namespace tw::simulator
