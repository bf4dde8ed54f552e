// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches of spaces of which all times are known: what they find with how many candidates, without
// measuring anything. docs/tuning.md.
#pragma once
#include "Tune/CostCorrection.h"
#include "Tune/Database.h"
#include "Tune/Search.h"
#include <map>
#include <span>

namespace tw::tune {

/// A kernel of which an exhaustive search has measured everything.
class RecordedSpace {
public:
  /// Nothing where points are missing: the search was none, or has not come to its end.
  static std::optional<RecordedSpace> from(const RecordedKernel &recorded);

  MeasuredKernel kernel;
  KernelDescription description;
  Candidate start;
  std::vector<Candidate> points; // all, the start among them, cheapest first by the model
  double best = 1;               // the least ratio of all

  /// How long a point takes in terms of the start; infinity for a rejected or unknown one.
  double ratioOf(const Point &point) const;

private:
  std::map<Point, double> ratios;
};

/// The orders in which candidates are taken: at random, cheapest first by the target's model, by
/// that as kernels of other sizes have corrected it, and by a KernelSearch from `from` on until
/// that ends or has taken `most`.
std::vector<Point> randomOrder(const RecordedSpace &space, uint64_t seed);
std::vector<Point> modelOrder(const RecordedSpace &space);
std::vector<Point> correctedOrder(const RecordedSpace &space, const CorrectionPrior &prior);
std::vector<Point> searchOrder(const RecordedSpace &space, const Point &from, size_t most,
                               uint64_t seed,
                               std::shared_ptr<const CorrectionPrior> prior = nullptr);

/// How many candidates of `order` are taken until one is as fast as `share` of the best one's
/// speed; nothing where none of them is.
std::optional<size_t> candidatesUntil(const RecordedSpace &space, std::span<const Point> order,
                                      double share);

} // namespace tw::tune
