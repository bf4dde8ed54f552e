// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places temporaries in one arena. The runtime calls it when the sizes of a dynamic program change,
// the compiler for static programs; so it is one pure function without dependencies.
//
// Buffers are placed one after another, each into the smallest gap that is free during its whole
// lifetime. The order decides the quality: several orders are tried. Where none meets the lower
// bound, a search packs the buffers below it (Skyline.h), or else below heights a little above.
#pragma once
#include "runtime/Skyline.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tw {

/// A temporary that lives from step `begin` to step `end`, both included.
struct PlanBuffer {
  int64_t begin = 0, end = 0;
  int64_t bytes = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets; // of each buffer in the arena, in bytes, aligned
  int64_t peak = 0;             // bytes of the arena
  int64_t bound = 0;            // no plan can be smaller: most aligned bytes alive at one step
};

namespace planner {

inline constexpr int64_t alignment = 64;
inline constexpr int64_t maxArena = int64_t(1) << 60;

/// Rounds sizes up; empty when a size or a lifetime is negative or the sum exceeds any memory.
inline std::optional<std::vector<Item>> roundUp(std::span<const PlanBuffer> buffers) {
  std::vector<Item> items;
  items.reserve(buffers.size());
  int64_t sum = 0;
  for (const PlanBuffer &b : buffers) {
    if (b.bytes < 0 || b.bytes > maxArena || b.begin < 0 || b.end < b.begin)
      return std::nullopt;
    items.push_back({b.begin, b.end, (b.bytes + alignment - 1) / alignment * alignment});
    sum += items.back().bytes;
    if (sum > maxArena)
      return std::nullopt;
  }
  return items;
}

/// The most bytes alive at one step.
inline int64_t lowerBound(std::span<const Item> items) {
  std::vector<std::pair<int64_t, int64_t>> events; // frees of a step come before its allocations
  for (const Item &item : items) {
    events.emplace_back(item.begin, item.bytes);
    if (item.end < INT64_MAX)
      events.emplace_back(item.end + 1, -item.bytes);
  }
  std::sort(events.begin(), events.end());
  int64_t live = 0, most = 0;
  for (auto [step, bytes] : events)
    most = std::max(most, live += bytes);
  return most;
}

/// Places one item in the smallest sufficient gap between those placed that live with it, else
/// above them; `placed` is sorted by offset.
inline int64_t bestFit(const Item &item, std::span<const Item> items,
                       std::span<const int64_t> offsets, std::span<const int> placed) {
  int64_t cursor = 0, best = -1, bestGap = INT64_MAX;
  for (int other : placed) {
    if (!item.overlaps(items[other]))
      continue;
    int64_t gap = offsets[other] - cursor;
    if (gap >= item.bytes && gap < bestGap) {
      best = cursor;
      bestGap = gap;
    }
    cursor = std::max(cursor, offsets[other] + items[other].bytes);
  }
  return best >= 0 ? best : cursor;
}

/// Places all items in the given order; returns the peak.
inline int64_t place(std::span<const Item> items, std::span<const int> order,
                     std::vector<int64_t> &offsets) {
  offsets.assign(items.size(), 0);
  std::vector<int> placed;
  placed.reserve(items.size());
  int64_t peak = 0;
  for (int i : order) {
    if (items[i].bytes == 0)
      continue;
    offsets[i] = bestFit(items[i], items, offsets, placed);
    peak = std::max(peak, offsets[i] + items[i].bytes);
    auto at = std::upper_bound(placed.begin(), placed.end(), i,
                               [&](int a, int b) { return offsets[a] < offsets[b]; });
    placed.insert(at, i);
  }
  return peak;
}

/// Tries orders and keeps the best plan.
class Search {
public:
  explicit Search(std::vector<Item> rounded) : items(std::move(rounded)) {
    best.bound = lowerBound(items);
    best.peak = INT64_MAX;
  }

  MemoryPlan run() {
    auto steps = [](const Item &i) { return static_cast<double>(i.end - i.begin) + 1; };
    auto area = [&](const Item &i) { return steps(i) * static_cast<double>(i.bytes); };
    auto first = [](const Item &i) { return -i.begin; };
    if (!attempt(orderBy(items, [](const Item &i) { return i.bytes; })) &&
        !attempt(orderBy(items, area)) && !attempt(orderBy(items, steps)) &&
        !attempt(orderBy(items, first)))
      pack({orderBy(items, steps), orderBy(items, area), orderBy(items, first)});
    return std::move(best);
  }

private:
  /// Whether the best plan so far cannot be beaten.
  bool attempt(const std::vector<int> &order) {
    std::vector<int64_t> offsets;
    keep(place(items, order, offsets), offsets);
    return best.peak == best.bound;
  }

  void keep(int64_t peak, const std::vector<int64_t> &offsets) {
    if (peak >= best.peak)
      return;
    best.peak = peak;
    best.offsets = offsets;
  }

  /// Packs below the bound, or else below as little more as it can. A look at a skyline costs as
  /// many steps as there are items, and a packing takes as many of them.
  void pack(const std::vector<std::vector<int>> &orders) {
    auto count = static_cast<int64_t>(items.size());
    int64_t most = std::min(1000 + 2 * count, 20'000'000 / count);
    for (int64_t part : {0, 64, 32, 16, 8}) {
      int64_t goal = best.bound + (part ? best.bound / part : 0);
      if (goal >= best.peak)
        return;
      Skyline skyline(items, goal);
      for (const std::vector<int> &order : orders)
        if (skyline.search(order, most)) {
          int64_t peak = 0;
          for (size_t i = 0; i < items.size(); ++i)
            peak = std::max(peak, skyline.offsets[i] + items[i].bytes);
          return keep(peak, skyline.offsets);
        }
    }
  }

  std::vector<Item> items;
  MemoryPlan best;
};

} // namespace planner

/// Plans the arena; deterministic. Empty when a size or lifetime is negative or the sizes add up to
/// more than 2^60 bytes.
inline std::optional<MemoryPlan> planMemory(std::span<const PlanBuffer> buffers) {
  auto items = planner::roundUp(buffers);
  if (!items)
    return std::nullopt;
  return planner::Search(*std::move(items)).run();
}

} // namespace tw
