// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Replay.h"
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

namespace tw::tune {

static constexpr double never = std::numeric_limits<double>::infinity();

static void sortByCost(std::vector<Candidate> &candidates) {
  std::ranges::stable_sort(candidates, {}, [](const Candidate &c) { return c.cost.value_or(0); });
}

std::optional<RecordedSpace> RecordedSpace::from(const RecordedKernel &recorded) {
  RecordedSpace made;
  made.kernel = recorded.kernel;
  made.description = recorded.description;
  made.start = {parsePoint(recorded.kernel.start), recorded.description.startCost};
  made.points.push_back(made.start);
  made.ratios[made.start.point] = 1;
  for (const Measurement &each : recorded.measurements) {
    bool isRight = each.rejection.empty();
    // The last one counts: what looked fast was measured again, more often.
    if (made.ratios.insert_or_assign(each.point, isRight ? each.ratio.median : never).second)
      made.points.push_back({each.point, each.cost});
  }
  size_t enumerated = size_t(std::max<int64_t>(recorded.description.enumerated, 0));
  if (enumerated == 0 || made.points.size() - 1 < enumerated)
    return std::nullopt;
  sortByCost(made.points);
  for (const auto &[point, ratio] : made.ratios)
    made.best = std::min(made.best, ratio);
  return made;
}

double RecordedSpace::ratioOf(const Point &point) const {
  auto found = ratios.find(point);
  return found == ratios.end() ? never : found->second;
}

std::vector<Point> modelOrder(const RecordedSpace &space) {
  std::vector<Point> order;
  for (const Candidate &candidate : space.points)
    order.push_back(candidate.point);
  return order;
}

std::vector<Point> randomOrder(const RecordedSpace &space, uint64_t seed) {
  std::vector<Point> order = modelOrder(space);
  std::mt19937_64 random(seed);
  std::ranges::shuffle(order, random);
  return order;
}

std::vector<Point> correctedOrder(const RecordedSpace &space, const CorrectionPrior &prior) {
  CostCorrection correction(space.description.space, space.start, &prior);
  correction.fit();
  std::vector<std::pair<double, Point>> expected;
  for (const Candidate &candidate : space.points)
    expected.emplace_back(correction.expectedRatio(candidate.point, candidate.cost),
                          candidate.point);
  std::ranges::stable_sort(expected, {}, &std::pair<double, Point>::first);
  std::vector<Point> order;
  for (auto &[ratio, point] : expected)
    order.push_back(std::move(point));
  return order;
}

/// What a search of the recorded space would begin with: neighbors of the start, and some of all.
static std::vector<Candidate> poolOf(const RecordedSpace &recorded, const Point &from,
                                     uint64_t seed) {
  constexpr size_t samples = 400, most = 1'000;
  std::set<Point> near;
  for (Point &point : neighbors(recorded.description.space, from, 2))
    near.insert(std::move(point));
  std::vector<Candidate> pool, others;
  for (const Candidate &candidate : recorded.points)
    if (candidate.point != from)
      (near.contains(candidate.point) ? pool : others).push_back(candidate);
  std::mt19937_64 random(seed);
  std::ranges::sample(others, std::back_inserter(pool), samples, random);
  sortByCost(pool);
  if (pool.size() > most)
    pool.resize(most);
  return pool;
}

std::vector<Point> searchOrder(const RecordedSpace &recorded, const Point &from, size_t most,
                               uint64_t seed, std::shared_ptr<const CorrectionPrior> prior) {
  auto start = std::ranges::find(recorded.points, from, &Candidate::point);
  double startRatio = recorded.ratioOf(from);
  if (start == recorded.points.end() || startRatio == never)
    return {};
  KernelSearch search(recorded.description.space, *start, poolOf(recorded, from, seed), seed);
  search.learnFrom(std::move(prior));
  std::vector<Point> order = {from};
  while (order.size() < most) {
    auto point = search.next();
    if (!point)
      break;
    double ratio = recorded.ratioOf(*point) / startRatio;
    if (ratio == never)
      search.reject(*point);
    else
      search.record(*point, {ratio, ratio, ratio});
    order.push_back(*std::move(point));
  }
  return order;
}

std::optional<size_t> candidatesUntil(const RecordedSpace &space, std::span<const Point> order,
                                      double share) {
  auto found = std::ranges::find_if(
      order, [&](const Point &point) { return space.ratioOf(point) * share <= space.best; });
  if (found == order.end())
    return std::nullopt;
  return size_t(found - order.begin()) + 1;
}

} // namespace tw::tune
