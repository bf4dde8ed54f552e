// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a scatter combines an element with what is there.
#pragma once
#include "IR/Graph/Graph.h"

namespace tw::conversion {

/// The elementwise operation that combines the two ("arith.addf"; sums of bools are "or"); empty:
/// the element replaces what is there.
llvm::StringRef combineOperation(graph::ScatterOp op);

} // namespace tw::conversion
