// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Search.h"
#include "Tune/CostCorrection.h"
#include <algorithm>
#include <cmath>
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
  if (sinceBest >= patience)
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

std::optional<Point> KernelSearch::cheapest() {
  CostCorrection correction(space, start, prior.get());
  for (const Measured &each : measured) {
    auto candidate = std::ranges::find(pool, each.point, &Candidate::point);
    // Of points beside the pool the model has said nothing.
    if (candidate != pool.end())
      correction.learn(each.point, candidate->cost, each.ratio.median);
  }
  correction.fit();
  const Candidate *best = nullptr;
  double least = 0;
  for (const Candidate &candidate : pool) {
    if (known.contains(candidate.point))
      continue;
    double expected = correction.expectedRatio(candidate.point, candidate.cost);
    if (!best || expected < least)
      best = &candidate, least = expected;
  }
  return best ? std::optional(best->point) : std::nullopt;
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
