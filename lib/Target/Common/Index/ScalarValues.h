// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of scalars of index type in tile programs: bounds that hold in every program, and
// values in one of them.
#pragma once
#include "IR/Tile/Tile.h"
#include <optional>

namespace tw::target {

/// A number that a scalar is never below, in any program, trip or call.
std::optional<int64_t> lowerBound(mlir::Value scalar);

/// A number that it is never above.
std::optional<int64_t> upperBound(mlir::Value scalar);

/// How often a loop runs, if that is the same number in all programs and calls.
std::optional<int64_t> knownTrips(tile::ForOp loop);

/// Whether a scalar is greater than another one in all programs and calls, as far as it is plain.
bool isSurelyBeyond(mlir::Value scalar, mlir::Value other);

/// A scalar in the program `id` along dimension `dim` of the grid, if it depends on nothing else.
std::optional<int64_t> valueInProgram(mlir::Value scalar, unsigned dim, int64_t id);

} // namespace tw::target
