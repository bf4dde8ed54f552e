// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of attention in two kernels: those of the queries, and those of keys and values.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"

namespace tw::conversion {

/// Whether there are two kinds of gradients.
bool canSplitGradients(const AttentionGradient &gradient);

/// A kernel for the gradient of the queries, and one for those of keys and values.
std::vector<Subkernel> splitGradients(const Subkernel &subkernel);

} // namespace tw::conversion
