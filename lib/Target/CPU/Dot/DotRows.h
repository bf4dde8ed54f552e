// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows with what lies along K in memory (y = x W^T with rows of W; scores of one
// query): vectors of both along K are multiplied, and each sum is added up over its lanes at the
// end. As outer products they would want b transposed, which is more work than the few products.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

/// Adds to the sums, which are in `place`, or stores them there, added to the accumulator.
mlir::LogicalResult rowProduct(Emitter &e, tile::DotOp op, const Memory &place, bool isFresh);

} // namespace tw::target::cpu
