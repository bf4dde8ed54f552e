// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver/Model/PointsToTry.h"
#ifdef TW_WITH_SOLVER
#include "Tune/Solver.h"
#endif
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <set>

namespace tw {
using conversion::ConfigurationChooser;
using conversion::ConfigurationProblem;
using tune::Point;

static std::vector<Point> samplesOf(const tune::Space &space, const SpaceRequest &request) {
  if (request.samples <= 0)
    return {};
#ifdef TW_WITH_SOLVER
  return tune::Solver(space).sample(size_t(request.samples), request.seed);
#else // points that are hard to hit are missing
  std::mt19937_64 random(request.seed);
  return tune::drawPoints(space, size_t(request.samples), random);
#endif
}

static void sortByCost(std::vector<CostedPoint> &points) {
  llvm::stable_sort(points, [](const CostedPoint &a, const CostedPoint &b) {
    return a.cost.value_or(0) < b.cost.value_or(0);
  });
}

std::vector<CostedPoint> pointsToTry(const KernelSpace &kernel, const ConfigurationProblem &problem,
                                     const ConfigurationChooser &chooser,
                                     const SpaceRequest &request) {
  std::vector<Point> points = tune::neighbors(kernel.space, kernel.point, 2);
  if (kernel.space.contains(kernel.chosen))
    points.insert(points.begin(), kernel.chosen);
  std::set<Point> known(points.begin(), points.end());
  known.insert(kernel.point);
  for (Point &sample : samplesOf(kernel.space, request))
    if (known.insert(sample).second)
      points.push_back(std::move(sample));
  std::vector<CostedPoint> costed;
  for (Point &point : points) {
    std::optional<double> cost = chooser.cost(problem, kernel.at(point));
    costed.push_back({std::move(point), cost});
  }
  sortByCost(costed);
  if (costed.size() > size_t(request.pointsMost))
    costed.resize(size_t(request.pointsMost));
  return costed;
}

EnumeratedSpace enumerateSpace(const KernelSpace &kernel, const ConfigurationProblem &problem,
                               const ConfigurationChooser &chooser, const SpaceRequest &request) {
  // Of all kernels of a model some seconds: a step takes about a microsecond, a cost several.
  constexpr size_t mostSteps = 4'000'000;
  EnumeratedSpace made;
  bool isRestricted = std::isfinite(request.costWithin);
  std::vector<double> costs; // of the points in their order; they themselves would be a gigabyte
  double least = std::numeric_limits<double>::infinity();
  made.isComplete = forEachLegalPoint(kernel.space, mostSteps, [&](const Point &point) {
    ++made.legal;
    if (!isRestricted)
      return made.legal <= request.enumerateMost;
    double cost = chooser.cost(problem, kernel.at(point)).value_or(0);
    costs.push_back(cost);
    least = std::min(least, cost);
    return true;
  });
  if (!made.isComplete)
    return made;
  double most = isRestricted ? least * request.costWithin : request.costWithin;
  made.within =
      isRestricted ? llvm::count_if(costs, [&](double cost) { return cost <= most; }) : made.legal;
  if (made.within > request.enumerateMost)
    return made;
  size_t number = 0;
  forEachLegalPoint(kernel.space, mostSteps, [&](const Point &point) {
    if (!isRestricted || costs[number] <= most)
      made.points.push_back({point, chooser.cost(problem, kernel.at(point))});
    ++number;
    return true;
  });
  sortByCost(made.points);
  return made;
}

} // namespace tw
