// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of the gradients of attention for a vector unit.
#pragma once
#include "Kernels/AttentionGradient.h"
#include "Target/CPU/Configuration/VectorUnit.h"

namespace tw::target::cpu {
using kernels::AttentionGradient;
using kernels::AttentionGradientConfiguration;

/// The cheapest configuration that fits all constraints.
AttentionGradientConfiguration chooseAttentionGradient(const AttentionGradient &gradient,
                                                       const VectorUnit &unit);

/// Whether one kernel for queries and one for keys and values are cheaper than one for all.
bool areGradientsCheaperApart(const AttentionGradient &gradient, const VectorUnit &unit);

/// About how many cycles of one core all programs take.
double attentionGradientCost(const AttentionGradient &gradient,
                             const AttentionGradientConfiguration &configuration,
                             const VectorUnit &unit);

} // namespace tw::target::cpu
