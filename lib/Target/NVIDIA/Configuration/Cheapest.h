// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Kernels/Constraint.h"
#include <functional>
#include <optional>

namespace tw::target::nvidia {

/// Keeps the configuration that costs least of those that are offered and legal.
template <typename C>
class Cheapest {
public:
  /// `constraints` are over the fields of a C.
  Cheapest(std::vector<kernels::Constraint> constraints, std::function<double(const C &)> costOf)
      : constraints(std::move(constraints)), costOf(std::move(costOf)) {}

  void offer(const C &candidate) {
    double cost = costOf(candidate);
    if ((!best || cost < least) && kernels::holds(constraints, numbersOf(candidate)))
      best = candidate, least = cost;
  }

  std::optional<C> best;

private:
  std::vector<kernels::Constraint> constraints;
  std::function<double(const C &)> costOf;
  double least = 0;
};

} // namespace tw::target::nvidia
