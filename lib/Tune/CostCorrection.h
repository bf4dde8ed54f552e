// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What measurements say of the target's cost model: a linear model, by ridge regression, of how far
// the logarithm of a time is from that of its cost. Its features are of each knob by itself, and
// say where in its range it is, so that weights hold for other sizes, too: what was measured of
// these counts as so many measurements more.
#pragma once
#include "Tune/Search.h"
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::tune {

struct RecordedKernel;

/// Of kernels of the same kind but other sizes: the sums over their measurements from which a
/// regression's weights follow (its normal equations), each kernel weighing the same.
class CorrectionPrior {
public:
  CorrectionPrior() = default;
  /// Of one kernel; empty where too little was measured of it.
  explicit CorrectionPrior(const RecordedKernel &kernel);
  void add(const CorrectionPrior &other);
  bool isEmpty() const { return kernels == 0; }

private:
  friend class CostCorrection;
  size_t kernels = 0;
  std::map<std::string, std::map<std::string, double>> products; // by the names of features
  std::map<std::string, double> residuals;
};

/// Of all that are the same kind of kernel as this one, for the same target on the same machine,
/// but have other sizes. Empty where it is no good: where what it says of each of them, made from
/// the others, puts the best points no further ahead than their costs do (leave-one-out).
CorrectionPrior priorFor(const RecordedKernel &kernel, std::span<const RecordedKernel> known);

class CostCorrection {
public:
  /// Times are in terms of that of `start`, costs in terms of its cost. `prior`, if there is one,
  /// outlives it.
  CostCorrection(const Space &space, const Candidate &start,
                 const CorrectionPrior *prior = nullptr);

  void learn(const Point &point, std::optional<double> cost, double ratio);
  /// From what has been learned; until there are a few points, or a prior, nothing is corrected.
  void fit();
  /// How long a point is expected to take in terms of the start; without a cost as if all cost the
  /// same.
  double expectedRatio(const Point &point, std::optional<double> cost) const;

private:
  std::vector<double> featuresOf(const Point &point) const;
  double logCost(std::optional<double> cost) const;

  const Space &space;
  const Candidate &start;
  const CorrectionPrior *prior;
  struct Sample {
    std::vector<double> features;
    double residual, ratio;
  };
  std::vector<Sample> samples;
  std::vector<double> weights;
};

} // namespace tw::tune
