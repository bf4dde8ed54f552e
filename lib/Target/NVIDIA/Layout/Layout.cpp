// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Layout/Layout.h"
#include <algorithm>
#include <cassert>

namespace tw::target::nvidia {

static constexpr int64_t threadsOfWarp = 32;

static int64_t countOf(const std::vector<Digit> &digits) {
  int64_t count = 1;
  for (const Digit &digit : digits)
    count *= digit.size;
  return count;
}

/// Adds what the digits of `number` move.
static void move(Coordinates &at, const std::vector<Digit> &digits, int64_t number) {
  for (const Digit &digit : digits) {
    at[size_t(digit.dim)] += number % digit.size * digit.stride;
    number /= digit.size;
  }
}

Layout::Layout(Coordinates extents, std::vector<Digit> registers, std::vector<Digit> threads)
    : tile(std::move(extents)), registerPart(std::move(registers)), threadPart(std::move(threads)) {
  assert(std::ranges::all_of(registerPart, [&](const Digit &digit) {
    return digit.size > 0 && size_t(digit.dim) < tile.size();
  }));
}

int64_t Layout::registers() const { return countOf(registerPart); }
int64_t Layout::threads() const { return countOf(threadPart); }

Coordinates Layout::offsetOfRegister(int64_t number) const {
  Coordinates at(tile.size(), 0);
  move(at, registerPart, number);
  return at;
}

Coordinates Layout::offsetOfThread(int64_t number) const {
  Coordinates at(tile.size(), 0);
  move(at, threadPart, number);
  return at;
}

std::optional<Coordinates> Layout::elementAt(Slot slot) const {
  Coordinates at = offsetOfRegister(slot.registerNumber);
  move(at, threadPart, slot.thread);
  for (size_t d = 0; d < at.size(); ++d)
    if (at[d] >= tile[d])
      return std::nullopt;
  return at;
}

namespace {

/// A digit, and what it counts in its number.
struct Placed {
  Digit digit;
  bool isThread;
  int64_t weight;
};

} // namespace

/// The digits that move along a dimension, from the largest stride on.
static std::vector<Placed> digitsAlong(const Layout &layout, int dim) {
  std::vector<Placed> along;
  for (bool isThread : {false, true}) {
    int64_t weight = 1;
    for (const Digit &digit : isThread ? layout.threadDigits() : layout.registerDigits()) {
      if (digit.dim == dim && digit.stride != 0)
        along.push_back({digit, isThread, weight});
      weight *= digit.size;
    }
  }
  std::ranges::sort(
      along, [](const Placed &a, const Placed &b) { return a.digit.stride > b.digit.stride; });
  return along;
}

bool Layout::isUnique() const {
  for (size_t d = 0; d < tile.size(); ++d) {
    int64_t reached = 1; // by all smaller digits together, one past the last
    std::vector<Placed> along = digitsAlong(*this, int(d));
    for (const Placed &placed : std::vector(along.rbegin(), along.rend())) {
      if (placed.digit.size == 1)
        continue;
      if (placed.digit.stride < reached)
        return false;
      reached += (placed.digit.size - 1) * placed.digit.stride;
    }
  }
  return true;
}

std::optional<Slot> Layout::slotOf(const Coordinates &element) const {
  Slot slot{0, 0};
  for (size_t d = 0; d < tile.size(); ++d) {
    if (element[d] < 0 || element[d] >= tile[d])
      return std::nullopt;
    int64_t rest = element[d];
    for (const Placed &placed : digitsAlong(*this, int(d))) {
      int64_t value = std::min(rest / placed.digit.stride, placed.digit.size - 1);
      rest -= value * placed.digit.stride;
      (placed.isThread ? slot.thread : slot.registerNumber) += value * placed.weight;
    }
    if (rest != 0)
      return std::nullopt;
  }
  return slot;
}

/// Calls `visit` with all coordinates of a tile until it returns false.
template <typename Visit>
static bool overAll(const Coordinates &extents, Visit visit) {
  Coordinates at(extents.size(), 0);
  if (std::ranges::find(extents, 0) != extents.end())
    return true;
  while (true) {
    if (!visit(at))
      return false;
    size_t d = extents.size();
    while (d > 0 && ++at[d - 1] == extents[d - 1])
      at[--d] = 0;
    if (d == 0)
      return true;
  }
}

bool Layout::isComplete() const {
  return overAll(tile, [&](const Coordinates &at) { return slotOf(at).has_value(); });
}

std::string Layout::str() const {
  auto text = [](const std::vector<Digit> &digits) {
    std::string all;
    for (const Digit &digit : digits)
      all += (all.empty() ? " " : ", ") + std::to_string(digit.size) + " x " +
             std::to_string(digit.stride) + "@" + std::to_string(digit.dim);
    return all;
  };
  return "registers" + text(registerPart) + "; threads" + text(threadPart);
}

Exchange exchangeBetween(const Layout &from, const Layout &to) {
  auto farthest = Exchange::Nothing;
  overAll(from.extents(), [&](const Coordinates &at) {
    Slot source = *from.slotOf(at), target = *to.slotOf(at);
    Exchange own = source == target                 ? Exchange::Nothing
                   : source.thread == target.thread ? Exchange::WithinThread
                   : source.thread / threadsOfWarp == target.thread / threadsOfWarp
                       ? Exchange::WithinWarp
                       : Exchange::WithinBlock;
    farthest = std::max(farthest, own);
    return farthest != Exchange::WithinBlock;
  });
  return farthest;
}

} // namespace tw::target::nvidia
