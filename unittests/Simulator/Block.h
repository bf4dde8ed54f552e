// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU's block of threads on one thread of the host: each is a fiber, which runs until it has to
// wait. Finds barriers that not all threads reach, and deadlocks; what is missing between two
// accesses shows as different results when the threads run in another order. What runs beside the
// threads (Asynchronous.h) happens as late as it may.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tw::simulator {

struct Thread;

/// What simulated code asks for, with its operands as integers; pointers are the host's.
using OperationFunction = void (*)(Thread *self, int64_t *operands);

/// Operations by number, in Thread::operations.
enum Operations : uint32_t {
  Barrier,         // id, threads (0: all)
  ArriveAtBarrier, // id, threads
  SyncWarp,
  InitBarrier,     // address, arrivals
  Arrive,          // address, as how many
  ArriveExpecting, // address, bytes
  WaitForBarrier,  // address, parity
  LoadTile,        // to, map, barrier, coordinates...
  LoadBytes,       // to, from, barrier, bytes
  StoreTile,       // map, from, coordinates...
  CommitStores,
  WaitForStores, // groups that may be pending
  FenceProxy,
  StoreMatrices, // address, number of registers, registers
  FenceProducts,
  // descriptors of a and b, sums, columns, Operands, is a transposed, b, adds to sums, which sums
  Multiply,
  // b's descriptor, adds to sums, sums, columns, Operands, which sums, a's 4 registers, is b
  // transposed, which registers
  MultiplyRegisters,
  CommitProducts,
  WaitForProducts, // groups that may be pending
  ReadSums,        // which sums
  ChangeRegisters, // which registers
  Ex2,             // x, as bits of f32; the result takes its place
  Rcp,             // x
  Tanh,            // x
  DivideF32,       // x, y
  FromLane,        // x, of the lane whose number differs by these bits
  operationCount
};

/// What products multiply.
enum Operands : int64_t { OfBF16, OfF16, OfTF32 };

/// What a thread sees of itself. Simulated code (ToHost.cpp) reads it, by offsets.
struct Thread {
  uint32_t thread, block, blocks;
  void *shared; // its address is a multiple of sharedAlignment
  void (*barrier)(Thread *self);
  const OperationFunction *operations;
};

/// So that the 18 bits which wgmma's descriptors have of an address are an offset.
constexpr size_t sharedAlignment = size_t(1) << 18;

/// `arguments`: 64 bits each; of a tensor map, the address of its 128 bytes.
using Kernel = void (*)(const uint64_t *arguments, Thread *self);

struct Launch {
  uint32_t blocks, threads;
  size_t sharedBytes;
};

/// In which order the threads run between two barriers: one after the other, or those of a warp
/// group as far as they can before the next group does anything.
enum class Order { Forwards, Backwards, GroupsForwards, GroupsBackwards };

/// Runs a block; null, or what is wrong with the kernel: then some threads have not ended.
const char *runBlock(Kernel kernel, const uint64_t *arguments, const Launch &launch, uint32_t block,
                     Order order = Order::Forwards);

/// Runs the blocks [begin, end) of a launch, of which some run at one time and take turns whenever
/// their threads wait for what runs beside them.
const char *runBlocks(Kernel kernel, const uint64_t *arguments, const Launch &launch,
                      uint32_t begin, uint32_t end, Order order = Order::Forwards);

/// Of warp groups, by all blocks of this process.
int64_t productsSoFar();

//===--- for operations --------------------------------------------------===//

/// Lets other threads run until `isReady`.
void waitUntil(const std::function<bool()> &isReady);
/// Others may be able to run now.
void wakeOthers();
/// Ends the block; does not return.
[[noreturn]] void fail(const char *what);

} // namespace tw::simulator
