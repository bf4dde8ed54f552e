// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Search.h"
#include "Tune/CostCorrection.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <utility>

namespace tw::tune {

KernelSearch::KernelSearch(Space space, Candidate start, std::vector<Candidate> pool, uint64_t seed,
                           SearchMode mode)
    : space(std::move(space)), start(std::move(start)), pool(std::move(pool)), random(seed),
      mode(mode) {
  known[this->start.point] = true;
}

std::optional<Point> KernelSearch::next() {
  if (auto point = std::exchange(first, std::nullopt);
      point && known.try_emplace(*point, true).second)
    return point;
  if (mode == SearchMode::Exhaustive)
    return nextOfPool();
  if (sinceBest >= patience || (sinceBest >= leastPatience && expectedGain() < noise()))
    return std::nullopt;
  // Most by the model, which is right about much; the others are for what it does not see.
  constexpr std::optional<Point> (KernelSearch::*sources[])() = {
      &KernelSearch::cheapest, &KernelSearch::cheapest, &KernelSearch::cheapest,
      &KernelSearch::nearBest, &KernelSearch::cheapest, &KernelSearch::nearBest,
      &KernelSearch::cheapest, &KernelSearch::anywhere};
  for (size_t tried = 0; tried < std::size(sources); ++tried)
    if (auto point = (this->*sources[turn++ % std::size(sources)])()) {
      known[*point] = true;
      return point;
    }
  return std::nullopt;
}

std::optional<Point> KernelSearch::nextOfPool() {
  while (firstUntried < pool.size())
    if (const Point &point = pool[firstUntried++].point; known.try_emplace(point, true).second)
      return point;
  return std::nullopt;
}

std::optional<double> KernelSearch::costOf(const Point &point) const {
  auto found = std::ranges::find(pool, point, &Candidate::point);
  return found == pool.end() ? std::nullopt : found->cost;
}

size_t KernelSearch::untriedCount() const {
  return size_t(std::ranges::count_if(
      pool, [&](const Candidate &candidate) { return !known.contains(candidate.point); }));
}

CostCorrection KernelSearch::correction() const {
  CostCorrection correction(space, start, prior.get());
  for (const Measured &each : measured) {
    auto candidate = std::ranges::find(pool, each.point, &Candidate::point);
    // Of points beside the pool the model has said nothing.
    if (candidate != pool.end())
      correction.learn(each.point, candidate->cost, each.ratio.median);
  }
  correction.fit();
  return correction;
}

/// What of a lognormal time is expected to be left below `best`, in terms of that; `expected` is
/// its median, and `spread` the standard deviation of its logarithm.
static double expectedImprovement(double best, double expected, double spread) {
  auto normal = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
  double distance = std::log(best / expected) / spread;
  return normal(distance) -
         expected / best * std::exp(spread * spread / 2) * normal(distance - spread);
}

double KernelSearch::expectedGain() const {
  if (errors.empty()) // nothing says how far what is expected is off
    return std::numeric_limits<double>::infinity();
  constexpr size_t mostErrors = 16; // the last: the correction learns
  size_t count = std::min(errors.size(), mostErrors);
  double squares = 0;
  for (double error : std::span(errors).last(count))
    squares += error * error;
  double spread = std::max(std::sqrt(squares / double(count)), 1e-3);
  CostCorrection correction = this->correction();
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate &candidate : pool)
    if (!known.contains(candidate.point))
      least = std::min(least, correction.expectedRatio(candidate.point, candidate.cost));
  return std::isinf(least) ? 0
                           : expectedImprovement(best() ? best()->ratio.median : 1, least, spread);
}

double KernelSearch::noise() const {
  std::vector<double> widths;
  for (const Measured &each : measured)
    widths.push_back((each.ratio.high - each.ratio.low) / (2 * each.ratio.median));
  if (widths.empty())
    return 0;
  auto middle = widths.begin() + ptrdiff_t(widths.size() / 2);
  std::ranges::nth_element(widths, middle);
  return std::isfinite(*middle) ? *middle : 0;
}

std::optional<Point> KernelSearch::cheapest() {
  CostCorrection correction = this->correction();
  const Candidate *best = nullptr;
  double least = 0;
  for (const Candidate &candidate : pool) {
    if (known.contains(candidate.point))
      continue;
    double expected = correction.expectedRatio(candidate.point, candidate.cost);
    if (!best || expected < least)
      best = &candidate, least = expected;
  }
  if (!best)
    return std::nullopt;
  expected[best->point] = least;
  return best->point;
}

/// A neighbor of one of the best three points, or what one of them has of another.
std::optional<Point> KernelSearch::nearBest() {
  std::vector<Point> parents;
  for (const Measured &each : finalists(3))
    parents.push_back(each.point);
  if (parents.empty())
    parents.push_back(start.point);
  std::vector<Point> children;
  for (const Point &parent : parents) {
    for (Point &neighbor : neighbors(space, parent, 1))
      if (!known.contains(neighbor))
        children.push_back(std::move(neighbor));
    for (const Point &other : parents) {
      Point child = parent;
      for (auto &[name, value] : child)
        if (random() % 2)
          value = other.at(name);
      if (!known.contains(child) && space.contains(child))
        children.push_back(std::move(child));
    }
  }
  if (children.empty())
    return std::nullopt;
  return children[random() % children.size()];
}

std::optional<Point> KernelSearch::anywhere() {
  std::vector<const Candidate *> left;
  for (const Candidate &candidate : pool)
    if (!known.contains(candidate.point))
      left.push_back(&candidate);
  if (left.empty())
    return std::nullopt;
  return left[random() % left.size()]->point;
}

void KernelSearch::record(const Point &point, TimeRatio ratio) {
  known[point] = true;
  if (auto said = expected.find(point); said != expected.end() && ratio.median > 0)
    errors.push_back(std::log(ratio.median / said->second));
  expected.erase(point);
  double before = best() ? best()->ratio.median : 1;
  auto again = std::ranges::find(measured, point, &Measured::point);
  if (again != measured.end())
    again->ratio = ratio, again->isConfirmed = true;
  else
    measured.push_back({point, ratio});
  sinceBest = ratio.median < before ? 0 : sinceBest + 1;
}

void KernelSearch::reject(const Point &point) {
  known[point] = true;
  ++rejected;
  ++sinceBest;
  std::erase_if(measured, [&](const Measured &each) { return each.point == point; });
}

std::vector<KernelSearch::Measured> KernelSearch::finalists(size_t most) const {
  std::vector<Measured> found;
  for (const Measured &each : measured)
    if (each.ratio.median < 1)
      found.push_back(each);
  std::ranges::stable_sort(found, {}, [](const Measured &each) { return each.ratio.median; });
  if (found.size() > most)
    found.erase(found.begin() + ptrdiff_t(most), found.end());
  return found;
}

std::vector<KernelSearch::Measured> KernelSearch::contenders(size_t most) const {
  std::vector<Measured> found = finalists(most);
  std::erase_if(found,
                [&](const Measured &each) { return each.ratio.low > found.front().ratio.high; });
  return found;
}

const KernelSearch::Measured *KernelSearch::leastOf(bool confirmed) const {
  const Measured *least = nullptr;
  for (const Measured &each : measured)
    if ((each.isConfirmed || !confirmed) && (!least || each.ratio.median < least->ratio.median))
      least = &each;
  return least && least->ratio.median < 1 ? least : nullptr;
}

const KernelSearch::Measured *KernelSearch::best() const { return leastOf(/*confirmed=*/false); }

const KernelSearch::Measured *KernelSearch::bestConfirmed() const {
  bool anyConfirmed = std::ranges::any_of(measured, &Measured::isConfirmed);
  return leastOf(anyConfirmed);
}

} // namespace tw::tune
