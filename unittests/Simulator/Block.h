// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU's block of threads on one thread of the host: each is a fiber, which runs until the next
// barrier. Finds barriers that not all threads reach; what is missing between two accesses shows as
// different results when the threads run in another order.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tw::simulator {

/// What a thread sees of itself. Simulated code (ToHost.cpp) reads it, by offsets.
struct Thread {
  uint32_t thread, block, blocks;
  void *shared;
  void (*barrier)(Thread *self);
};

/// `arguments`: 64 bits each.
using Kernel = void (*)(const uint64_t *arguments, Thread *self);

struct Launch {
  uint32_t blocks, threads;
  size_t sharedBytes;
};

/// In which order the threads run between two barriers.
enum class Order { Forwards, Backwards };

/// Runs a block; null, or what is wrong with the kernel: then some threads have not ended.
const char *runBlock(Kernel kernel, const uint64_t *arguments, const Launch &launch, uint32_t block,
                     Order order = Order::Forwards);

} // namespace tw::simulator
