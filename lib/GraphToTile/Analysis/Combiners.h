// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of reductions that tile programs have an operation for.
#pragma once
#include "IR/Tile/Tile.h"
#include <variant>

namespace tw::conversion {

/// How a reduction's body ends, what that is in tile programs, and what changes nothing in it.
struct Combiner {
  const char *operation;
  tile::ReduceKind reduce;
  std::optional<tile::ScanKind> scan;
  std::variant<bool, int64_t, double> neutral;
};

/// By `operation`; null if there is none.
const Combiner *findCombiner(llvm::StringRef operation);

/// How `yielded` combines a state with an element; null if in no known way.
const Combiner *combinerOf(mlir::Value yielded, mlir::BlockArgument state);
/// The element in that.
mlir::Value elementOf(mlir::Value yielded, mlir::BlockArgument state);

/// Whether a scalar is the constant that changes nothing.
bool isNeutral(mlir::Value scalar, const Combiner &row);

} // namespace tw::conversion
