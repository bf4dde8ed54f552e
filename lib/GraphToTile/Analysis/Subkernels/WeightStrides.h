// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights as the buffers of kernels: which can be stored in another order.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"

namespace tw::conversion {

/// Strides of a buffer in the weight's elements; nothing when parts that are joined do not lie
/// behind each other.
std::optional<llvm::SmallVector<int64_t>> weightStrides(graph::WeightAttr weight,
                                                        const BufferView &view);

/// Whether a tensor of the host program is a weight that can be stored in panels.
bool canBePacked(mlir::Value tensor, const BufferView &view);

} // namespace tw::conversion
