// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval arithmetic on indices: of values that are emitted (IndexRanges.h) and of scalars of tile
// programs (CPU/Plan/Analysis/KnownScalars.h).
#pragma once
#include "mlir/IR/Operation.h"
#include <optional>

namespace tw::target {

/// Both ends included.
struct Range {
  int64_t least, most;

  /// Nothing where an end is beyond 2^30: far from where sums and products of two would overflow.
  static std::optional<Range> of(int64_t least, int64_t most);
};

std::optional<Range> sum(const Range &a, const Range &b);
std::optional<Range> product(const Range &a, const Range &b);
Range unionOf(const Range &a, const Range &b);

/// What `op` of the arith dialect gives of two numbers, which a select chooses from; nothing for
/// operations that are not known, and divisions of or by what may be negative or 0.
std::optional<Range> rangeOf(mlir::Operation *op, const Range &a, const Range &b);

/// Whether all of `first` to `first` + `span` is in [0, size): nothing where it is true of some
/// values of `first` only, or not known.
std::optional<bool> staysInside(const std::optional<Range> &first, int64_t span,
                                std::optional<int64_t> size);

} // namespace tw::target
