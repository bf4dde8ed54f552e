// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of products that the tensor cores do not take: f32, f64, integers, operands that TMA
// cannot bring.
#pragma once
#include "Kernels/Contraction.h"
#include "Target/NVIDIA/Architecture.h"

namespace tw::target::nvidia {
using kernels::Contraction;
using kernels::ContractionConfiguration;

/// The fastest by the model. `isRhsWeight`: b may come in panels.
ContractionConfiguration choosePlainProduct(const Contraction &contraction, bool isRhsWeight,
                                            const GpuArchitecture &architecture);
/// The same for a variant of `kernel`, which reads b as that does.
ContractionConfiguration choosePlainVariant(const Contraction &contraction,
                                            const ContractionConfiguration &kernel,
                                            const GpuArchitecture &architecture);

/// About how many cycles all programs take.
double plainProductCost(const Contraction &contraction,
                        const ContractionConfiguration &configuration,
                        const GpuArchitecture &architecture);

/// Whether a kernel that transposes b first pays: threads next to each other then read columns next
/// to each other, or rows that a vector is multiplied by lie in memory as they are. Of a weight it
/// costs nothing.
bool isTransposeProfitable(const Contraction &contraction, bool isRhsWeight,
                           const GpuArchitecture &architecture);

} // namespace tw::target::nvidia
