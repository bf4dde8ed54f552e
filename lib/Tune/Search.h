// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which configuration of a kernel to measure next. docs/tuning.md.
#pragma once
#include "Tune/Comparison.h"
#include "Tune/Space.h"
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace tw::tune {

/// A legal point, and what it costs by the target's model where that has one.
struct Candidate {
  Point point;
  std::optional<double> cost;
};

class KernelSearch {
public:
  /// From `start` on, whose cost is that of the same model; `pool`: points to try, cheapest first.
  KernelSearch(Space space, Candidate start, std::vector<Candidate> pool, uint64_t seed);

  /// The point to measure next; empty when nothing is left that is worth it: nothing untried, or
  /// the last `patience` points were no faster than the best one. In turns the cheapest by the
  /// model as far as measurements have corrected it, a neighbor or a mixture of the best points,
  /// and one at random.
  std::optional<Point> next();

  /// Of a point that was measured: how long it takes in terms of the start.
  void record(const Point &point, TimeRatio ratio);
  /// Of one that cannot be: it crashed, or its results were wrong.
  void reject(const Point &point);
  bool isKnown(const Point &point) const { return known.contains(point); }

  struct Measured {
    Point point;
    TimeRatio ratio;
  };
  /// The fastest that may be faster than the start, fastest first, at most `most`.
  std::vector<Measured> finalists(size_t most) const;
  const Measured *best() const;
  /// What was measured, in that order.
  const std::vector<Measured> &measurements() const { return measured; }
  size_t measuredCount() const { return measured.size(); }
  size_t rejectedCount() const { return rejected; }
  const Candidate &startPoint() const { return start; }

  static constexpr size_t patience = 24;

private:
  std::optional<Point> cheapest();
  std::optional<Point> nearBest();
  std::optional<Point> anywhere();

  Space space;
  Candidate start;
  std::vector<Candidate> pool;
  std::map<Point, bool> known; // asked for, or recorded
  std::vector<Measured> measured;
  size_t rejected = 0, turn = 0, sinceBest = 0;
  std::mt19937_64 random;
};

} // namespace tw::tune
