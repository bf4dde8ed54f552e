// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops and branches of random kernels.
#include "RandomTiles.h"

namespace tw::kernel {

/// What a float state may become in a trip.
static Tile next(const Tile &state, const Tile &value, int64_t way) {
  if (state.dtype() == i1)
    return way % 2 ? state ^ value : state || value;
  return way == 0   ? state + value
         : way == 1 ? maximum(state, value)
         : way == 2 ? value
                    : minimum(state, value);
}

/// Carries a tile, and another one of the same type that changes places with it.
void Generator::loop() {
  if (shared.depth > 1)
    return;
  const Node *start = pick([](const Node &node) { return countOf(node.sizes) < 1500; });
  const Node *second = start ? like(*start) : nullptr;
  if (!second)
    return;
  ++shared.depth;
  int64_t trips = below(5), way = below(4);
  bool swaps = flip(), hasIndex = flip();
  Index begin = flip() ? Index(0) : ids[0], step = flip(3) ? -2 : 1;
  Index end = begin + step * trips;
  double most = start->most + second->most, error = start->error + second->error;
  double valueMost = 0, valueError = 0;
  bool isInteger = !isFloat(start->tile.dtype());
  auto state = carry(start->tile, second->tile, Index(0));
  auto [a, b, count] = forLoop(begin, end, step, state, [&](Index i, Tile a, Tile b, Index count) {
    Generator inner = *this;
    Positions at(origin.begin(), origin.end());
    at.back() = Position(origin.back() + i);
    Buffer x = inner.given(start->tile.dtype(), whole, wholeSizes);
    inner.add(
        kernel::load(x, at, block, {.pad = start->tile.dtype() == i1 ? Scalar(true) : Scalar(1)}),
        blockSizes, 4);
    if (isInteger) // exact, whatever is done to it
      inner.add(a, start->sizes);
    for (int64_t steps = below(4); steps > 0; --steps)
      inner.step();
    const Node *value = inner.like(*start);
    valueMost = value->most, valueError = value->error;
    Tile changed = next(a, value->tile, way);
    return swaps ? carry(b, changed, count + i) : carry(changed, b, count + i);
  });
  double times = double(trips);
  double sum = most + times * valueMost, rounding = roundingOf(start->tile.dtype());
  double spread = error + times * (valueError + (way == 0 ? rounding * sum : 0));
  Node first = *start;
  add(a, first.sizes, sum, spread);
  add(b, first.sizes, sum, spread);
  if (hasIndex)
    add(full({3}, cast(Scalar(count), i32)), {3});
  --shared.depth;
}

/// A loop that can be split: nothing is stored or checked before it.
void Generator::combined() {
  if (shared.depth > 0 || shared.hasCombine || shared.stored)
    return;
  DType dtype = flip() ? f32 : i32;
  shared.hasCombine = true;
  int64_t trips = below(4);
  bool isSum = flip();
  Buffer x = given(dtype, whole, wholeSizes);
  Tile start = full(block, isSum ? Scalar(0) : Scalar(-1000000), dtype);
  Tile all = forLoop(
      0, trips, 1, start,
      [&](Index i, Tile acc) {
        Positions at(origin.begin(), origin.end());
        at.front() = Position(origin.front() + i);
        Tile value = kernel::load(x, at, block, {.pad = 2});
        return isSum ? acc + value : maximum(acc, value);
      },
      [&](Tile left, Tile right) { return isSum ? left + right : maximum(left, right); });
  if (!isSum)
    all = maximum(all, -50);
  add(all, blockSizes, isSum ? 4 * 4 : 50);
}

void Generator::branch() {
  if (shared.depth > 1)
    return;
  ++shared.depth;
  const Node *x = pick([](const Node &) { return true; });
  Node start = *x;
  double most = 0, error = 0;
  auto body = [&] {
    Generator inner = *this;
    for (int64_t steps = below(3); steps > 0; --steps)
      inner.step();
    const Node *result = inner.like(start);
    most = std::max(most, result->most);
    error = std::max(error, result->error);
    return result->tile;
  };
  Scalar condition = flip() ? mod(ids[0], 2) == 0 : ids.back() < 1;
  Tile result = ifThenElse(condition, body, body);
  add(result, start.sizes, most, error);
  --shared.depth;
}

} // namespace tw::kernel
