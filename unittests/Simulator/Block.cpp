// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Block.h"
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

struct Block {
  Kernel kernel;
  const uint64_t *arguments;
  std::vector<Fiber> fibers;
  void *scheduler = nullptr;
};

thread_local Block *running = nullptr;
thread_local Fiber *current = nullptr;

void leave(Thread *) { twSimulatorSwitch(&current->stack, running->scheduler); }

/// What a fiber begins with. It never returns: nobody called it.
void begin() {
  running->kernel(running->arguments, current);
  current->hasEnded = true;
  leave(current);
  __builtin_trap();
}

/// A stack from which a switch "returns" to begin().
void prepare(Fiber &fiber) {
  fiber.memory = std::make_unique<uint8_t[]>(stackBytes);
  auto top = (reinterpret_cast<uintptr_t>(fiber.memory.get()) + stackBytes) / 64 * 64;
  auto *words = reinterpret_cast<uint64_t *>(top) - 2; // as if begin() had been called
  words[1] = 0;
  words[0] = reinterpret_cast<uint64_t>(&begin);
  words -= savedWords;
  std::memset(words, 0, savedWords * sizeof(uint64_t));
  fiber.stack = words;
}

} // namespace

const char *runBlock(Kernel kernel, const uint64_t *arguments, const Launch &launch, uint32_t block,
                     Order order) {
  auto shared = std::make_unique<uint8_t[]>(launch.sharedBytes + 128);
  std::memset(shared.get(), unwritten, launch.sharedBytes + 128);
  auto *aligned = shared.get() + (128 - reinterpret_cast<uintptr_t>(shared.get()) % 128);
  Block state{kernel, arguments, std::vector<Fiber>(launch.threads)};
  for (uint32_t i = 0; i < launch.threads; ++i) {
    Fiber &fiber = state.fibers[i];
    static_cast<Thread &>(fiber) = {i, block, launch.blocks, aligned, leave};
    prepare(fiber);
  }
  running = &state;
  for (size_t ended = 0; ended < state.fibers.size();) {
    ended = 0;
    for (size_t i = 0; i < state.fibers.size(); ++i) {
      current = &state.fibers[order == Order::Forwards ? i : state.fibers.size() - 1 - i];
      if (!current->hasEnded)
        twSimulatorSwitch(&state.scheduler, current->stack);
      ended += current->hasEnded;
    }
    if (ended != 0 && ended != state.fibers.size())
      return "some threads of a block have ended and others wait at a barrier";
  }
  return nullptr;
}

} // namespace tw::simulator
