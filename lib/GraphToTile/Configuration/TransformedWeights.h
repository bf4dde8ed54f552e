// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions that read their weights transformed (Kernels/Winograd.h).
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"

namespace tw::conversion {

/// Makes a convolution read transformed weights from a temporary, in panels of `columns` outputs,
/// and gives what computes them. Where the weights are known, so are these before the program runs.
Subkernel materializeTransformedWeights(Subkernel &convolution, int temporary, int64_t columns);

} // namespace tw::conversion
