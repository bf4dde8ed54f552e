// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What emitted indices can be, as far as it is known: variables of loops with constant bounds,
// programs of a grid of constant size, and what is computed from them.
#pragma once
#include "Target/Common/Index/Index.h"
#include "Target/Common/Index/Range.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tw::target {

class IndexRanges {
public:
  /// Of a variable.
  void set(mlir::Value variable, Range range) { known[variable] = range; }
  std::optional<Range> ofVariable(mlir::Value variable) const;
  /// Of a variable that can be any number from 0 on.
  void setNonNegative(mlir::Value variable) { nonNegative.insert(variable); }

  /// Nothing where it is not known, or where bounds are beyond 2^30.
  std::optional<Range> of(const Ix &x) const { return of(x, 0); }

  /// Whether all of `first` to `first` + `span` is in [0, size): true or false where it is known
  /// for every program and trip.
  std::optional<bool> staysInside(const Ix &first, int64_t span, const Ix &size) const;

  /// Whether x is 0 or more in every program and trip.
  bool isNonNegative(const Ix &x) const { return isNonNegative(x, 0); }

private:
  std::optional<Range> of(const Ix &x, int depth) const;
  bool isNonNegative(const Ix &x, int depth) const;

  llvm::DenseMap<mlir::Value, Range> known;
  llvm::DenseSet<mlir::Value> nonNegative;
};

/// Whether it is known that `divisor` divides x.
bool isMultipleOf(const Ix &x, int64_t divisor);

} // namespace tw::target
