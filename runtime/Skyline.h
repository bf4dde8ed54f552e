// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs items, whose lifetimes are given, below a height that is given, too: branch and bound.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tw::planner {

/// A buffer with its size rounded up, alive from step `begin` to step `end`, both included.
struct Item {
  int64_t begin, end, bytes;
  bool overlaps(const Item &other) const { return begin <= other.end && other.begin <= end; }
};

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

/// The skyline is how high each step is filled. Where it is lowest, the next item is one whose
/// whole life lies within that stretch; or there is none, and the stretch is filled up to the lower
/// one of its neighbours, since all that is left for it lives longer and lies on a neighbour. So
/// every packing can be found in which no item could lie lower, a lowest one among them. A step
/// that cannot hold what is left for it makes the search go back.
class Skyline {
public:
  Skyline(std::span<const Item> items, int64_t goal) : items(items), goal(goal) {
    std::vector<int64_t> begins; // as many items as live together do so where one begins
    for (const Item &item : items)
      begins.push_back(item.begin);
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    for (const Item &item : items) {
      auto first = std::lower_bound(begins.begin(), begins.end(), item.begin),
           last = std::upper_bound(begins.begin(), begins.end(), item.end);
      steps.push_back({size_t(first - begins.begin()), size_t(last - begins.begin())});
    }
    heights.resize(begins.size());
    rest.resize(begins.size());
  }

  /// Whether it finds a packing, choosing items in the order that is given where it has the choice,
  /// and looking at so many skylines at most.
  bool search(std::vector<int> newOrder, int64_t most) {
    order = std::move(newOrder);
    left = most;
    offsets.assign(items.size(), 0);
    isPlaced.assign(items.size(), false);
    std::fill(heights.begin(), heights.end(), 0);
    std::fill(rest.begin(), rest.end(), 0);
    unplaced = 0;
    for (size_t i = 0; i < items.size(); ++i)
      if (items[i].bytes > 0)
        add(i, items[i].bytes), ++unplaced;
      else
        isPlaced[i] = true;
    findTwins();
    return fill();
  }

  /// Of the packing that was found.
  std::vector<int64_t> offsets;

private:
  struct Stretch {
    size_t begin, end;
  };

  void add(size_t i, int64_t bytes) {
    for (size_t step = steps[i].begin; step < steps[i].end; ++step)
      rest[step] += bytes;
  }

  /// Of items that are alike, only the first one that is left is worth a try.
  void findTwins() {
    twins.assign(items.size(), -1);
    std::map<std::tuple<size_t, size_t, int64_t>, int> latest;
    for (int i : order) {
      auto [found, isNew] = latest.try_emplace({steps[i].begin, steps[i].end, items[i].bytes}, i);
      if (!isNew)
        twins[i] = std::exchange(found->second, i);
    }
  }

  /// The lowest stretch for which something is left.
  Stretch lowest() const {
    size_t at = heights.size();
    for (size_t step = 0; step < heights.size(); ++step)
      if (rest[step] > 0 && (at == heights.size() || heights[step] < heights[at]))
        at = step;
    Stretch stretch{at, at + 1};
    while (stretch.begin > 0 && heights[stretch.begin - 1] <= heights[at])
      --stretch.begin;
    while (stretch.end < heights.size() && heights[stretch.end] <= heights[at])
      ++stretch.end;
    return stretch;
  }

  /// Raises a stretch of the skyline; whether that leaves room for the rest.
  bool raise(Stretch stretch, int64_t height) {
    bool isEnough = true;
    for (size_t step = stretch.begin; step < stretch.end; ++step) {
      before.push_back(std::exchange(heights[step], height));
      isEnough &= height + rest[step] <= goal;
    }
    return isEnough;
  }

  void lower(Stretch stretch) {
    auto from = before.end() - int64_t(stretch.end - stretch.begin);
    std::copy(from, before.end(), heights.begin() + int64_t(stretch.begin));
    before.erase(from, before.end());
  }

  bool fill() {
    if (unplaced == 0)
      return true;
    if (--left < 0)
      return false;
    Stretch stretch = lowest();
    auto at = heights.begin();
    int64_t height = *std::max_element(at + int64_t(stretch.begin), at + int64_t(stretch.end));
    for (int i : order)
      if (!isPlaced[i] && stretch.begin <= steps[i].begin && steps[i].end <= stretch.end &&
          (twins[i] < 0 || isPlaced[twins[i]]) && put(i, height))
        return true;
    int64_t above = std::min(stretch.begin > 0 ? heights[stretch.begin - 1] : INT64_MAX,
                             stretch.end < heights.size() ? heights[stretch.end] : INT64_MAX);
    if (above == INT64_MAX || left < 0)
      return false;
    if (raise(stretch, above) && fill())
      return true;
    lower(stretch);
    return false;
  }

  /// With the item there, and all that is left.
  bool put(int i, int64_t height) {
    if (left < 0)
      return false;
    isPlaced[i] = true;
    offsets[i] = height;
    --unplaced;
    add(size_t(i), -items[i].bytes);
    if (raise(steps[i], height + items[i].bytes) && fill())
      return true;
    lower(steps[i]);
    add(size_t(i), items[i].bytes);
    ++unplaced;
    isPlaced[i] = false;
    return false;
  }

  std::span<const Item> items;
  int64_t goal;
  std::vector<Stretch> steps;         // by item: those where items begin, in order
  std::vector<int64_t> heights, rest; // by step: the skyline, bytes of what is left for it
  std::vector<int64_t> before;        // heights to go back to
  std::vector<int> order, twins;
  std::vector<bool> isPlaced;
  size_t unplaced = 0;
  int64_t left = 0;
};

} // namespace tw::planner
