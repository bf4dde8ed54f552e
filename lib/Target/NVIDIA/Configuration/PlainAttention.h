// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of attention that the tensor cores do not take, and of attention's gradients.
#pragma once
#include "Kernels/Attention.h"
#include "Kernels/AttentionGradient.h"
#include "Target/NVIDIA/Architecture.h"

namespace tw::target::nvidia {

/// The fastest by the model.
kernels::AttentionConfiguration choosePlainAttention(const kernels::Attention &attention,
                                                     const GpuArchitecture &architecture);
kernels::AttentionGradientConfiguration
choosePlainGradient(const kernels::AttentionGradient &gradient,
                    const GpuArchitecture &architecture);

/// About how many cycles all programs take.
double plainAttentionCost(const kernels::Attention &attention,
                          const kernels::AttentionConfiguration &configuration,
                          const GpuArchitecture &architecture);
double plainGradientCost(const kernels::AttentionGradient &gradient,
                         const kernels::AttentionGradientConfiguration &configuration,
                         const GpuArchitecture &architecture);

/// Whether the gradient of queries and those of keys and values are better a kernel each: one has
/// all keys in a block, which is then all that there is of a head.
bool areGradientsBetterApart(const kernels::AttentionGradient &gradient);

} // namespace tw::target::nvidia
