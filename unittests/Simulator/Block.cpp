// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Block.h"
#include "Asynchronous.h"
#include "TensorMap.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>
#include <memory>
#include <numeric>
#include <vector>

// void twSimulatorSwitch(void **from, void *to): what the ABI keeps over a call lies on the old
// stack, whose top goes to *from, and is taken from the new one.
#if defined(__x86_64__)
asm(R"(
.text
.hidden twSimulatorSwitch
.globl twSimulatorSwitch
.type twSimulatorSwitch, @function
twSimulatorSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size twSimulatorSwitch, . - twSimulatorSwitch
)");
static constexpr size_t savedWords = 6;
#else
#error "the simulator switches stacks on x86-64 alone"
#endif
extern "C" void twSimulatorSwitch(void **from, void *to);

namespace tw::simulator {
namespace {

constexpr size_t stackBytes = 64 << 10;
constexpr size_t groupThreads = 128, warpThreads = 32;
constexpr size_t blocksAtOneTime = 4; // of a launch
constexpr uint8_t unwritten = 0xA5;   // what shared memory holds at first

struct Fiber : Thread {
  void *stack = nullptr; // its top, while the fiber does not run
  std::unique_ptr<uint8_t[]> memory;
  bool hasEnded = false;
};

/// Where threads of a block wait for each other.
struct ThreadBarrier {
  uint32_t come = 0;
  uint64_t round = 0;
  std::vector<bool> hasCome = {}; // of each thread, in this round
};

struct Block {
  Kernel kernel;
  const uint64_t *arguments;
  std::vector<Fiber> fibers;
  Asynchronous asynchronous;
  ThreadBarrier barriers[16] = {};       // by their numbers
  std::vector<ThreadBarrier> warps = {}; // one each
  void *scheduler = nullptr;
  bool hasAdvanced = false; // since the scheduler last looked
  const char *fault = nullptr;
};

thread_local Block *running = nullptr;
thread_local Fiber *current = nullptr;

void leave() { twSimulatorSwitch(&current->stack, running->scheduler); }

/// What a fiber begins with. It never returns: nobody called it.
void begin() {
  running->kernel(running->arguments, current);
  current->hasEnded = true;
  running->hasAdvanced = true;
  leave();
  __builtin_trap();
}

/// A stack from which a switch "returns" to begin().
void prepare(Fiber &fiber) {
  fiber.memory = std::make_unique_for_overwrite<uint8_t[]>(stackBytes);
  auto top = (reinterpret_cast<uintptr_t>(fiber.memory.get()) + stackBytes) / 64 * 64;
  auto *words = reinterpret_cast<uint64_t *>(top) - 2; // as if begin() had been called
  words[1] = 0;
  words[0] = reinterpret_cast<uint64_t>(&begin);
  words -= savedWords;
  std::memset(words, 0, savedWords * sizeof(uint64_t));
  fiber.stack = words;
}

/// Whether these were the last threads that the barrier waits for.
bool arriveAt(ThreadBarrier &barrier, size_t threads) {
  barrier.hasCome.resize(running->fibers.size());
  if (barrier.hasCome[current->thread])
    fail("a thread comes to a barrier again before all have come");
  barrier.hasCome[current->thread] = true;
  if (++barrier.come != threads)
    return false;
  barrier.come = 0;
  barrier.hasCome.clear();
  ++barrier.round;
  wakeOthers();
  return true;
}

void waitAt(ThreadBarrier &barrier, size_t threads) {
  uint64_t round = barrier.round;
  if (!arriveAt(barrier, threads))
    waitUntil([&barrier, round] { return barrier.round != round; });
}

ThreadBarrier &named(int64_t id) { return running->barriers[id & 15]; }
size_t orAll(int64_t threads) { return threads ? size_t(threads) : running->fibers.size(); }

void syncWarp(Thread *self) {
  size_t warp = self->thread / warpThreads, first = warp * warpThreads;
  waitAt(running->warps[warp], std::min(warpThreads, running->fibers.size() - first));
}

//===--- operations ------------------------------------------------------===//

float floatOf(int64_t bits) { return __builtin_bit_cast(float, uint32_t(bits)); }
int64_t bitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }

Asynchronous &asynchronous() { return running->asynchronous; }

/// By number: `Operations`.
constexpr OperationFunction operations[operationCount] = {
    [](Thread *, int64_t *x) { waitAt(named(x[0]), orAll(x[1])); },
    [](Thread *, int64_t *x) { arriveAt(named(x[0]), orAll(x[1])); },
    [](Thread *self, int64_t *) { syncWarp(self); },
    [](Thread *, int64_t *x) { asynchronous().initBarrier(x[0], x[1]); },
    [](Thread *, int64_t *x) { asynchronous().arrive(x[0], x[1], 0); },
    [](Thread *, int64_t *x) { asynchronous().arrive(x[0], 1, x[1]); },
    [](Thread *, int64_t *x) { asynchronous().waitForBarrier(x[0], x[1]); },
    [](Thread *, int64_t *x) { asynchronous().loadTile(x); },
    [](Thread *, int64_t *x) { asynchronous().loadBytes(x); },
    [](Thread *self, int64_t *x) { asynchronous().storeTile(self->thread, x); },
    [](Thread *self, int64_t *) { asynchronous().commitStores(self->thread); },
    [](Thread *self, int64_t *x) { asynchronous().waitForStores(self->thread, x[0]); },
    [](Thread *self, int64_t *) { asynchronous().fenceProxy(self->thread); },
    [](Thread *self, int64_t *x) { asynchronous().storeMatrices(self->thread, x); },
    [](Thread *self, int64_t *) { asynchronous().fenceProducts(self->thread); },
    [](Thread *self, int64_t *x) { asynchronous().multiply(self->thread, x); },
    [](Thread *self, int64_t *x) { asynchronous().multiplyRegisters(self->thread, x); },
    [](Thread *self, int64_t *) { asynchronous().commitProducts(self->thread); },
    [](Thread *self, int64_t *x) { asynchronous().waitForProducts(self->thread, x[0]); },
    [](Thread *self, int64_t *x) { asynchronous().readSums(self->thread, x[0]); },
    [](Thread *self, int64_t *x) { asynchronous().changeRegisters(self->thread, x[0]); },
    [](Thread *, int64_t *x) { x[0] = bitsOf(std::exp2(floatOf(x[0]))); },
    [](Thread *, int64_t *x) { x[0] = bitsOf(1 / floatOf(x[0])); },
    [](Thread *, int64_t *x) { // of 10 bits, which is 2^-11 off
      x[0] = roundedToTF32(uint32_t(bitsOf(std::tanh(floatOf(x[0])))));
    },
    [](Thread *, int64_t *x) { x[0] = bitsOf(floatOf(x[0]) / floatOf(x[1])); },
    [](Thread *self, int64_t *x) { asynchronous().fromLane(self->thread, x); },
};

} // namespace

void waitUntil(const std::function<bool()> &isReady) {
  while (!isReady())
    leave();
  running->hasAdvanced = true;
}

void wakeOthers() { running->hasAdvanced = true; }

void fail(const char *what) {
  if (!running->fault)
    running->fault = what;
  leave();
  __builtin_trap();
}

/// What is wrong where nobody can go on.
static const char *whyStuck(const Block &block, size_t ended) {
  if (ended != 0 && block.barriers[0].come + ended == block.fibers.size())
    return "some threads of a block have ended and others wait at a barrier";
  return "deadlock: all threads wait for each other";
}

/// Lets threads [begin, end) run until each has to wait; how many of them have ended.
static size_t sweep(Block &state, size_t begin, size_t end, bool isBackwards) {
  size_t ended = 0;
  for (size_t i = begin; i < end && !state.fault; ++i) {
    current = &state.fibers[isBackwards ? end - 1 - (i - begin) : i];
    if (!current->hasEnded)
      twSimulatorSwitch(&state.scheduler, current->stack);
    ended += current->hasEnded;
  }
  return ended;
}

/// Lets the threads run in an order until nobody can go on; how many have ended.
static size_t runThreads(Block &state, Order order) {
  size_t count = state.fibers.size();
  bool isBackwards = order == Order::Backwards || order == Order::GroupsBackwards;
  bool isByGroups = order == Order::GroupsForwards || order == Order::GroupsBackwards;
  size_t ofGroup = isByGroups ? groupThreads : count, groups = (count + ofGroup - 1) / ofGroup;
  std::vector<size_t> ended(groups);
  for (size_t next = 0; next < groups && !state.fault;) {
    size_t group = isBackwards ? groups - 1 - next : next, begin = group * ofGroup;
    state.hasAdvanced = false;
    ended[group] = sweep(state, begin, std::min(begin + ofGroup, count), isBackwards);
    next = state.hasAdvanced ? 0 : next + 1; // whoever is first may go on now
  }
  return std::accumulate(ended.begin(), ended.end(), size_t(0));
}

/// What is wrong once all threads have ended.
static const char *problemAtEnd(const Block &block) {
  auto waits = [](const ThreadBarrier &barrier) { return barrier.come > 0; };
  if (std::ranges::any_of(block.barriers, waits) || std::ranges::any_of(block.warps, waits))
    return "a block has ended while a barrier waits for more threads";
  return block.asynchronous.problemAtEnd();
}

namespace {

/// A block on its way.
class RunningBlock {
public:
  RunningBlock(Kernel kernel, const uint64_t *arguments, const Launch &launch, uint32_t block)
      : shared(std::make_unique_for_overwrite<uint8_t[]>(2 * sharedAlignment)),
        state{kernel, arguments, std::vector<Fiber>(launch.threads),
              Asynchronous(aligned(), int64_t(launch.sharedBytes), launch.threads)} {
    std::memset(aligned(), unwritten, launch.sharedBytes);
    state.warps.resize((launch.threads + warpThreads - 1) / warpThreads);
    for (uint32_t i = 0; i < launch.threads; ++i) {
      Fiber &fiber = state.fibers[i];
      auto all = [](Thread *) { waitAt(named(0), orAll(0)); };
      static_cast<Thread &>(fiber) = {i, block, launch.blocks, aligned(), all, operations};
      prepare(fiber);
    }
  }
  RunningBlock(const RunningBlock &) = delete;

  /// Lets the threads run until nobody can go on, and then one thing happen beside them.
  void advance(Order order) {
    running = &state;
    size_t ended = runThreads(state, order);
    bool newestFirst = order == Order::Backwards || order == Order::GroupsForwards;
    if (!state.fault && ended == state.fibers.size()) {
      hasEnded = true;
      state.fault = problemAtEnd(state);
    } else if (!state.fault && !state.asynchronous.advance(newestFirst) && !state.fault) {
      state.fault = whyStuck(state, ended);
    }
    hasEnded |= state.fault != nullptr;
  }

  bool hasEnded = false;
  const char *fault() const { return state.fault; }

private:
  uint8_t *aligned() const {
    auto address = reinterpret_cast<uintptr_t>(shared.get());
    return shared.get() + (sharedAlignment - address % sharedAlignment);
  }

  std::unique_ptr<uint8_t[]> shared;
  Block state;
};

} // namespace

const char *runBlock(Kernel kernel, const uint64_t *arguments, const Launch &launch, uint32_t block,
                     Order order) {
  return runBlocks(kernel, arguments, launch, block, block + 1, order);
}

const char *runBlocks(Kernel kernel, const uint64_t *arguments, const Launch &launch,
                      uint32_t begin, uint32_t end, Order order) {
  std::list<RunningBlock> blocks;
  while (begin < end || !blocks.empty()) {
    for (; begin < end && blocks.size() < blocksAtOneTime; ++begin)
      blocks.emplace_back(kernel, arguments, launch, begin);
    for (RunningBlock &block : blocks) {
      block.advance(order);
      if (block.fault())
        return block.fault();
    }
    blocks.remove_if([](const RunningBlock &block) { return block.hasEnded; });
  }
  return nullptr;
}

} // namespace tw::simulator
