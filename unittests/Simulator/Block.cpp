// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Block.h"
#include "Asynchronous.h"
#include <cmath>
#include <cstring>
#include <memory>
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
constexpr uint8_t unwritten = 0xA5; // what shared memory holds at first

struct Fiber : Thread {
  void *stack = nullptr; // its top, while the fiber does not run
  std::unique_ptr<uint8_t[]> memory;
  bool hasEnded = false;
};

/// A barrier of a block, by its number.
struct NamedBarrier {
  uint32_t come = 0;
  uint64_t round = 0;
};

struct Block {
  Kernel kernel;
  const uint64_t *arguments;
  std::vector<Fiber> fibers;
  Asynchronous asynchronous;
  NamedBarrier barriers[16] = {};
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
bool arriveAtBarrier(int64_t id, int64_t threads) {
  NamedBarrier &barrier = running->barriers[id & 15];
  if (++barrier.come != (threads ? uint32_t(threads) : uint32_t(running->fibers.size())))
    return false;
  barrier.come = 0;
  ++barrier.round;
  wakeOthers();
  return true;
}

void waitAtBarrier(int64_t id, int64_t threads) {
  NamedBarrier &barrier = running->barriers[id & 15];
  uint64_t round = barrier.round;
  if (!arriveAtBarrier(id, threads))
    waitUntil([&barrier, round] { return barrier.round != round; });
}

//===--- operations ------------------------------------------------------===//

float floatOf(int64_t bits) { return __builtin_bit_cast(float, uint32_t(bits)); }
int64_t bitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }

Asynchronous &asynchronous() { return running->asynchronous; }

/// By number: `Operations`.
const OperationFunction operations[operationCount] = {
    [](Thread *, int64_t *x) { waitAtBarrier(x[0], x[1]); },
    [](Thread *, int64_t *x) { arriveAtBarrier(x[0], x[1]); },
    [](Thread *, int64_t *x) { asynchronous().initBarrier(x[0], x[1]); },
    [](Thread *, int64_t *x) { asynchronous().arrive(x[0], 0); },
    [](Thread *, int64_t *x) { asynchronous().arrive(x[0], x[1]); },
    [](Thread *, int64_t *x) { asynchronous().waitForBarrier(x[0], x[1]); },
    [](Thread *, int64_t *x) { asynchronous().loadTile(x); },
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
    [](Thread *, int64_t *x) { x[0] = bitsOf(std::exp2(floatOf(x[0]))); },
    [](Thread *, int64_t *x) { x[0] = bitsOf(1 / floatOf(x[0])); },
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

const char *runBlock(Kernel kernel, const uint64_t *arguments, const Launch &launch, uint32_t block,
                     Order order) {
  auto shared = std::make_unique_for_overwrite<uint8_t[]>(2 * sharedAlignment);
  auto address = reinterpret_cast<uintptr_t>(shared.get());
  auto *aligned = shared.get() + (sharedAlignment - address % sharedAlignment);
  std::memset(aligned, unwritten, launch.sharedBytes);
  Block state{kernel, arguments, std::vector<Fiber>(launch.threads),
              Asynchronous(aligned, int64_t(launch.sharedBytes), launch.threads)};
  for (uint32_t i = 0; i < launch.threads; ++i) {
    Fiber &fiber = state.fibers[i];
    auto all = [](Thread *) { waitAtBarrier(0, 0); };
    static_cast<Thread &>(fiber) = {i, block, launch.blocks, aligned, all, operations};
    prepare(fiber);
  }
  running = &state;
  bool isBackwards = order == Order::Backwards;
  for (size_t ended = 0; ended < state.fibers.size();) {
    ended = 0;
    state.hasAdvanced = false;
    for (size_t i = 0; i < state.fibers.size(); ++i) {
      current = &state.fibers[isBackwards ? state.fibers.size() - 1 - i : i];
      if (!current->hasEnded)
        twSimulatorSwitch(&state.scheduler, current->stack);
      if (state.fault)
        return state.fault;
      ended += current->hasEnded;
    }
    if (!state.hasAdvanced && !state.asynchronous.advance(isBackwards))
      return state.fault ? state.fault : whyStuck(state, ended);
  }
  return state.asynchronous.problemAtEnd();
}

} // namespace tw::simulator
