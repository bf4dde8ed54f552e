// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a scatter combines an element with what is there.
#pragma once
#include "IR/Graph/Graph.h"

namespace tw::conversion {

/// The elementwise operation that combines the two ("arith.addf"); empty: the element replaces what
/// is there; nothing: tile programs have no such operation.
std::optional<llvm::StringRef> combineOperation(graph::ScatterOp op);

} // namespace tw::conversion
