// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What measurements say of the target's cost model: a linear model, by ridge regression, of how far
// the logarithm of a time is from that of its cost, over logarithms of the knobs and their squares.
#pragma once
#include "Tune/Search.h"
#include <optional>
#include <vector>

namespace tw::tune {

class CostCorrection {
public:
  /// Times are in terms of that of `start`, costs in terms of its cost.
  CostCorrection(const Space &space, const Candidate &start);

  void learn(const Point &point, std::optional<double> cost, double ratio);
  /// From what has been learned; until there are a few points, nothing is corrected.
  void fit();
  /// How long a point is expected to take in terms of the start; without a cost as if all cost the
  /// same.
  double expectedRatio(const Point &point, std::optional<double> cost) const;

private:
  std::vector<double> featuresOf(const Point &point) const;
  double logCost(std::optional<double> cost) const;

  const Space &space;
  const Candidate &start;
  std::vector<std::vector<double>> features;
  std::vector<double> residuals, weights;
};

} // namespace tw::tune
