// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a body looks a tensor up, as far as that is a sum of multiples of loops: what windows are
// read at.
#pragma once
#include "Kernels/LoopNests.h"

namespace tw::kernels {

/// offset + the sum of factor * (place along a loop) + the sum of factor * (index of the function).
struct Place {
  llvm::SmallVector<std::pair<unsigned, int64_t>> loops = {}; // numbers of the operation's loops
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> indices = {};
  int64_t offset = 0;
  // Where the place is one of the axis; elsewhere 0 is taken. Null: everywhere.
  mlir::Value inside = {};
};

/// The place that an index of a body stands for, looked up along `axis` of `tensor`; nothing if it
/// is none.
std::optional<Place> placeOf(mlir::Value index, mlir::Value tensor, int64_t axis,
                             const CallSizes &calls);

/// The conditions that a condition is the conjunction of.
llvm::SmallVector<mlir::Value> conjuncts(mlir::Value condition);

} // namespace tw::kernels
