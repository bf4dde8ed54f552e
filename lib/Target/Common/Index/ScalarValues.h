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

/// A program's number along a dimension of the grid, or nothing.
using ProgramNumber = llvm::function_ref<std::optional<int64_t>(unsigned dim)>;

/// A scalar in the program of these numbers, if it depends on no others.
std::optional<int64_t> valueInProgram(mlir::Value scalar, ProgramNumber number);

/// How often a loop runs in the program of these numbers, if that depends on no others.
std::optional<int64_t> tripsInProgram(tile::ForOp loop, ProgramNumber number);

} // namespace tw::target
