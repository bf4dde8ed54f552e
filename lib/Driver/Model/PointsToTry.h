// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which points of a kernel's space a search gets: some that are worth a try, or all there are.
#pragma once
#include "Driver/Model/ConfigurationSpaces.h"

namespace tw {

/// A point, and what it costs by the target's model where that has one.
struct CostedPoint {
  tune::Point point;
  std::optional<double> cost;
};

/// The target's choice, neighbors of where the kernel is and samples of all of the space, as many
/// as `request` says: the cheapest first where the target has a model, else near ones before far
/// ones.
std::vector<CostedPoint> pointsToTry(const KernelSpace &kernel,
                                     const conversion::ConfigurationProblem &problem,
                                     const conversion::ConfigurationChooser &chooser,
                                     const SpaceRequest &request);

/// A space of which all points were looked at.
struct EnumeratedSpace {
  int64_t legal = 0;       // points there are, or that were seen before it was given up
  bool isComplete = false; // it was not given up: the space is too large
  int64_t within = 0;      // points whose cost is at most `request.costWithin` of the least cost
  /// These, cheapest first; none where there are more than `request.enumerateMost`.
  std::vector<CostedPoint> points;
};
EnumeratedSpace enumerateSpace(const KernelSpace &kernel,
                               const conversion::ConfigurationProblem &problem,
                               const conversion::ConfigurationChooser &chooser,
                               const SpaceRequest &request);

} // namespace tw
