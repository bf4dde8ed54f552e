// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "GraphToTile/Configuration/KernelFeatures.h"
#include "GraphToTile/Configuration/Overrides.h"
#include <memory>

namespace mlir {
class Pass;
}

namespace tw::conversion {

// Creators of passes, one for each in Passes.td.
#define GEN_PASS_DECL
#include "GraphToTile/Passes.h.inc"

/// Gives each function that dispatches call (tw.kernel) and tile programs cover the configurations
/// of its kernels (`tile.configuration`); for all others a remark says why. What `overrides` give
/// is taken, or refused with an error (CONFIG_1 to CONFIG_3); what `rules` give kernels of other
/// dispatches is taken where it fits, and a remark says so either way. Both may be null, and must
/// outlive the pass.
std::unique_ptr<mlir::Pass>
createConfigureDispatches(std::shared_ptr<const ConfigurationChooser> chooser,
                          const ConfigurationOverrides *overrides = nullptr,
                          ConfigurationRules *rules = nullptr);

/// Makes tile programs of the dispatches that tw-configure configured by the same chooser.
std::unique_ptr<mlir::Pass> createTilePrograms(std::shared_ptr<const ConfigurationChooser> chooser);

/// For tilewright-opt: tw-configure and tw-tile-programs by this chooser.
void registerPasses(const std::shared_ptr<const ConfigurationChooser> &chooser);

} // namespace tw::conversion
