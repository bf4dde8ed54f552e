// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations for the cpu target.
#pragma once
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "Target/CPU/CpuFeatures.h"
#include <memory>

namespace tw::target {

std::unique_ptr<const conversion::ConfigurationChooser>
createCPUChooser(const CpuFeatures &features);

/// Makes the cpu target's own fields known to the tile dialect.
void registerCPUConfigurations(mlir::DialectRegistry &registry);

} // namespace tw::target
