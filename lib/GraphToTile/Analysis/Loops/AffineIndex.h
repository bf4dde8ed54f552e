// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a body looks a tensor up, as far as that is a sum of multiples of loops: the positions of
// windows.
#pragma once
#include "GraphToTile/Analysis/Loops/LoopNests.h"

namespace tw::conversion {

/// offset + the sum of factor * (coordinate along a loop) + the sum of factor * (index of the
/// function).
struct AffineIndex {
  llvm::SmallVector<std::pair<unsigned, int64_t>> loops = {}; // numbers of the operation's loops
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> scalars = {};
  int64_t offset = 0;
  // Where the position lies inside of the axis; elsewhere 0 is taken. Null: everywhere.
  mlir::Value inside = {};
};

/// What an index of a body is, looked up along `axis` of `tensor`; nothing if it is no such sum.
std::optional<AffineIndex> affineIndexOf(mlir::Value index, mlir::Value tensor, int64_t axis,
                                         const CallSizes &calls);

/// The conditions that a condition is the conjunction of.
llvm::SmallVector<mlir::Value> conjuncts(mlir::Value condition);

} // namespace tw::conversion
