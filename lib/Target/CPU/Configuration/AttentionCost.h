// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of attention for a vector unit. Measured: docs/compiler-kernels.md, "Attention".
#pragma once
#include "Kernels/Attention.h"
#include "Target/CPU/Configuration/VectorUnit.h"

namespace tw::target::cpu {
using kernels::Attention;
using kernels::AttentionConfiguration;

/// The fastest configuration by the cost model.
AttentionConfiguration chooseAttention(const Attention &attention, const VectorUnit &unit);

/// About how many cycles all programs take.
double attentionCost(const Attention &attention, const AttentionConfiguration &configuration,
                     const VectorUnit &unit);

} // namespace tw::target::cpu
