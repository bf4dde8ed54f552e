// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which configuration of a kernel to measure next. docs/tuning.md.
#pragma once
#include "Tune/Comparison.h"
#include "Tune/Space.h"
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace tw::tune {

/// A legal point, and what it costs by the target's model where that has one.
struct Candidate {
  Point point;
  std::optional<double> cost;
};

class CorrectionPrior;
class CostCorrection;

enum class SearchMode {
  Guided,    // by what the model and the measurements say, until nothing gets faster
  Exhaustive // all points of the pool, cheapest first by the model
};

class KernelSearch {
public:
  /// From `start` on, whose cost is that of the same model; `pool`: points to try, cheapest first.
  KernelSearch(Space space, Candidate start, std::vector<Candidate> pool, uint64_t seed,
               SearchMode mode = SearchMode::Guided);

  /// The point to measure next; empty when nothing is left that is worth it: nothing untried, or,
  /// if it is guided, the last `patience` points were no faster than the best one, or the last
  /// `leastPatience` were not and the expected gain is below the noise. A guided search takes in
  /// turns the cheapest by the model as far as measurements have corrected it, a neighbor or a
  /// mixture of the best points, and one at random.
  std::optional<Point> next();

  /// Asks for this one before any other, unless it is known by then.
  void tryFirst(Point point) { first = std::move(point); }

  /// What is known of kernels of other sizes, which a guided search begins with.
  void learnFrom(std::shared_ptr<const CorrectionPrior> known) { prior = std::move(known); }

  /// Of a point that was measured: how long it takes in terms of the start.
  void record(const Point &point, TimeRatio ratio);
  /// Of one that cannot be: it crashed, or its results were wrong.
  void reject(const Point &point);
  bool isKnown(const Point &point) const { return known.contains(point); }

  struct Measured {
    Point point;
    TimeRatio ratio;          // by the last measurement
    bool isConfirmed = false; // it was measured more than once
  };
  /// The fastest that may be faster than the start, fastest first, at most `most`.
  std::vector<Measured> finalists(size_t most) const;
  /// Those of them that may be the fastest: their intervals overlap with that of the first.
  std::vector<Measured> contenders(size_t most) const;
  const Measured *best() const;
  /// The same among those that were measured again, if any were: the fastest of many that were
  /// measured once is a lucky one.
  const Measured *bestConfirmed() const;
  /// What was measured, in that order.
  const std::vector<Measured> &measurements() const { return measured; }
  size_t measuredCount() const { return measured.size(); }
  size_t rejectedCount() const { return rejected; }
  /// By the model; nothing for points beside the pool.
  std::optional<double> costOf(const Point &point) const;
  /// How many points of the pool have been neither measured, rejected nor asked for.
  size_t untriedCount() const;
  const Candidate &startPoint() const { return start; }

  static constexpr size_t patience = 24, leastPatience = 8;

private:
  CostCorrection correction() const;
  /// How much less than the best, in terms of it, the most promising point is expected to take: the
  /// expected improvement (Jones et al. 1998) of a lognormal time, as far off what the correction
  /// says as those were that have been measured.
  double expectedGain() const;
  /// Half the interval of a typical ratio, in terms of it.
  double noise() const;
  std::optional<Point> cheapest();
  std::optional<Point> nearBest();
  std::optional<Point> anywhere();
  std::optional<Point> nextOfPool();
  const Measured *leastOf(bool confirmed) const;

  Space space;
  Candidate start;
  std::vector<Candidate> pool;
  std::optional<Point> first;
  std::map<Point, bool> known; // asked for, or recorded
  std::vector<Measured> measured;
  std::map<Point, double> expected; // ratios of points that were asked for
  std::vector<double> errors;       // of those that were measured: logarithms
  size_t rejected = 0, turn = 0, sinceBest = 0;
  size_t firstUntried = 0; // of the pool: all before it are known
  std::mt19937_64 random;
  SearchMode mode;
  std::shared_ptr<const CorrectionPrior> prior;
};

} // namespace tw::tune
