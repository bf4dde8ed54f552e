// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "Target/NVIDIA/Architecture.h"
#include "Target/NVIDIA/Configuration/Precision.h"
#include <memory>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tw::target {

/// Configurations for a GPU. Products of 16-bit floats, and of f32 where these may be tf32, get
/// blocks for the tensor cores (ProductCost.h, AttentionCost.h); all else has the plain lowering
/// (PlainBlocks.h, PlainCost.h).
std::unique_ptr<const conversion::ConfigurationChooser>
createNVIDIAChooser(const GpuArchitecture &architecture, Precision precision = Precision::F32);

/// Makes the configuration `nvidia` known to the tile dialect.
void registerNVIDIAConfigurations(mlir::DialectRegistry &registry);

} // namespace tw::target
