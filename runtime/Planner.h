// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places temporaries in one arena. The runtime calls it when the sizes of a dynamic program change,
// the compiler for static programs; so it is one pure function without dependencies.
//
// Buffers are placed one after another, each into the smallest gap that is free during its whole
// lifetime. The order decides the quality: several orders are tried, then the buffers that make
// the peak are promoted, until the peak meets the lower bound or the effort is used up.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
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

/// One buffer with its size rounded up.
struct Item {
  int64_t begin, end, bytes;
  bool overlaps(const Item &other) const { return begin <= other.end && other.begin <= end; }
};

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

/// Indices sorted by descending key, ties by index.
template <typename Key>
std::vector<int> orderBy(std::span<const Item> items, Key key) {
  std::vector<int> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    auto keyA = key(items[a]), keyB = key(items[b]);
    return keyA != keyB ? keyA > keyB : a < b;
  });
  return order;
}

/// Moves the items that end at the peak some places forward in the order.
inline void promotePeak(std::span<const Item> items, std::span<const int64_t> offsets, int64_t peak,
                        std::vector<int> &order) {
  for (size_t at = 0; at < order.size(); ++at) {
    int i = order[at];
    if (items[i].bytes == 0 || offsets[i] + items[i].bytes != peak)
      continue;
    size_t to = at / 2;
    std::rotate(order.begin() + to, order.begin() + at, order.begin() + at + 1);
  }
}

} // namespace planner

/// Plans the arena; `effort` bounds the number of orders tried. Deterministic. Empty when a size
/// or lifetime is negative or the sizes add up to more than 2^60 bytes.
inline std::optional<MemoryPlan> planMemory(std::span<const PlanBuffer> buffers, int effort = 64) {
  using namespace planner;
  auto items = roundUp(buffers);
  if (!items)
    return std::nullopt;
  MemoryPlan plan;
  plan.bound = lowerBound(*items);
  plan.peak = INT64_MAX;
  std::vector<int64_t> offsets;
  std::vector<int> order, bestOrder;
  auto attempt = [&](std::vector<int> candidate) {
    order = std::move(candidate);
    int64_t peak = place(*items, order, offsets);
    if (peak < plan.peak) {
      plan.peak = peak;
      plan.offsets = offsets;
      bestOrder = order;
    }
    return plan.peak == plan.bound;
  };
  auto steps = [](const Item &i) { return static_cast<double>(i.end - i.begin) + 1; };
  if (attempt(orderBy(*items, [](const Item &i) { return i.bytes; })) ||
      attempt(orderBy(*items, [&](const Item &i) { return steps(i) * i.bytes; })) ||
      attempt(orderBy(*items, steps)) ||
      attempt(orderBy(*items, [](const Item &i) { return -i.begin; })))
    return plan;
  // Large plans get fewer rounds: one costs up to the square of the number of buffers.
  int64_t square = static_cast<int64_t>(items->size()) * static_cast<int64_t>(items->size());
  int64_t rounds = std::min<int64_t>(effort, 100'000'000 / std::max<int64_t>(square, 1));
  order = bestOrder;
  int64_t peak = place(*items, order, offsets);
  for (int64_t round = 0; round < rounds && plan.peak > plan.bound; ++round) {
    promotePeak(*items, offsets, peak, order);
    attempt(order);
    peak = 0;
    for (size_t i = 0; i < items->size(); ++i)
      peak = std::max(peak, (*items)[i].bytes ? offsets[i] + (*items)[i].bytes : 0);
  }
  return plan;
}

} // namespace tw
