// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What embeddings and bags of embeddings share.
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// How often each of [0, rows) occurs among the indices, which are checked (i64).
Tensor countIndices(Lowering &ctx, const Tensor &indices, mlir::OpFoldResult rows);

} // namespace tw::lower
