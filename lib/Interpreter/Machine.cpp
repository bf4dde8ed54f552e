// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Interpreter/Machine.h"
#include <fmt/format.h>

namespace tw::interpreter {

bool Machine::fail(Diagnostic problem) {
  if (!failure)
    failure = std::move(problem);
  return false;
}

bool Machine::run(const Steps &steps) {
  if (!spend(int64_t(steps.size())))
    return false;
  for (const Step &step : steps)
    if (!step(*this))
      return false;
  return true;
}

bool Machine::spend(int64_t operations) {
  if (isCancelled(options.cancellation))
    return fail(Cancellation::error());
  if (operations <= freeOperations) {
    freeOperations -= operations;
    return true;
  }
  return fail(
      {Code::INTERPRETER_5,
       fmt::format("the kernel takes more than {} operations on elements", options.mostOperations),
       {},
       {fmt::format("it was in program {} of a grid of {}", coordinatesText(program),
                    coordinatesText(grid))},
       "give smaller sizes, or a larger limit: --operations on the command line"});
}

bool Machine::reserve(int64_t count) {
  if (count <= freeElements) {
    freeElements -= count;
    return true;
  }
  return fail({Code::INTERPRETER_4,
               fmt::format("{} more elements are needed, but of {} only {} are left", count,
                           options.mostElements, freeElements),
               {},
               {},
               "give smaller sizes: the interpreter holds each element of buffers and tiles in 8 "
               "bytes"});
}

Cell *Machine::allocate(int slot, int64_t count) {
  slots[slot].tile = nullptr; // its memory can be used again
  if (!spend(count) || !reserve(count))
    return nullptr;
  auto release = [this, count](Cell *cells) {
    freeElements += count;
    delete[] cells;
  };
  slots[slot].tile = std::shared_ptr<Cell[]>(new Cell[count], release);
  return slots[slot].tile.get();
}

} // namespace tw::interpreter
