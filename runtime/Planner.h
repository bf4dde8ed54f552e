// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places temporaries in one arena. The runtime calls it when the sizes of a dynamic program change,
// the compiler for static programs; so it is one pure function without dependencies.
//
// Buffers are placed one after another, each into the smallest gap that is free during its whole
// lifetime. The order decides the quality: several orders are tried, then the best is improved by
// promoting the buffers that make the peak, until that meets the lower bound or the effort is used
// up.
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

/// Tries orders and keeps the best plan.
class Search {
public:
  explicit Search(std::vector<Item> rounded) : items(std::move(rounded)) {
    best.bound = lowerBound(items);
    best.peak = INT64_MAX;
  }

  MemoryPlan run(int effort) {
    auto steps = [](const Item &i) { return static_cast<double>(i.end - i.begin) + 1; };
    if (attempt(orderBy(items, [](const Item &i) { return i.bytes; })) ||
        attempt(orderBy(items, [&](const Item &i) { return steps(i) * i.bytes; })) ||
        attempt(orderBy(items, steps)) ||
        attempt(orderBy(items, [](const Item &i) { return -i.begin; })))
      return std::move(best);
    improve(effort);
    return std::move(best);
  }

private:
  /// Whether the best plan so far cannot be beaten.
  bool attempt(std::vector<int> candidate) {
    order = std::move(candidate);
    peak = place(items, order, offsets);
    if (peak < best.peak) {
      best.peak = peak;
      best.offsets = offsets;
      bestOrder = order;
    }
    return best.peak == best.bound;
  }

  /// Moves one of the items that make the peak forward, to a place drawn at random, and keeps the
  /// order when the peak does not grow. Large plans get fewer rounds: one costs up to the square of
  /// the number of buffers.
  void improve(int effort) {
    auto count = static_cast<int64_t>(items.size());
    int64_t rounds = std::min<int64_t>(effort, 100'000'000 / (count * count));
    bool done = attempt(bestOrder);
    std::vector<int> current = bestOrder;
    std::vector<size_t> atPeak = positionsAtPeak();
    int64_t currentPeak = peak;
    for (int64_t round = 0; round < rounds && !done; ++round) {
      size_t from = atPeak[random() % atPeak.size()], to = random() % (from + 1);
      std::vector<int> candidate = current;
      std::rotate(candidate.begin() + to, candidate.begin() + from, candidate.begin() + from + 1);
      done = attempt(std::move(candidate));
      if (peak > currentPeak)
        continue;
      current = order;
      currentPeak = peak;
      atPeak = positionsAtPeak();
    }
  }

  /// Where in the last order the items are that end at its peak.
  std::vector<size_t> positionsAtPeak() const {
    std::vector<size_t> positions;
    for (size_t at = 0; at < order.size(); ++at) {
      int i = order[at];
      if (items[i].bytes > 0 && offsets[i] + items[i].bytes == peak)
        positions.push_back(at);
    }
    return positions;
  }

  /// A small generator with a fixed seed: plans are the same every time.
  uint64_t random() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  }

  std::vector<Item> items;
  MemoryPlan best;
  std::vector<int> order, bestOrder; // the last one tried, the one of the best plan
  std::vector<int64_t> offsets;      // of the last one tried
  int64_t peak = 0;
  uint64_t state = 0x9E3779B97F4A7C15;
};

} // namespace planner

/// Plans the arena; `effort` bounds the number of orders tried. Deterministic. Empty when a size
/// or lifetime is negative or the sizes add up to more than 2^60 bytes.
inline std::optional<MemoryPlan> planMemory(std::span<const PlanBuffer> buffers, int effort = 500) {
  auto items = planner::roundUp(buffers);
  if (!items)
    return std::nullopt;
  return planner::Search(*std::move(items)).run(effort);
}

} // namespace tw
