// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations in the IR: #tile.config.
#pragma once
#include "IR/Tile/Tile.h"
#include "Kernels/Configuration.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tw::conversion {

/// Null, with what is wrong in `why`, for one that does not fit its schema.
tile::ConfigurationAttr toAttribute(mlir::MLIRContext *context,
                                    const kernels::Configuration &configuration, std::string &why);
/// The same with variants; null, with what is wrong in `why`, for some that do not fit.
tile::ConfigurationAttr withVariants(tile::ConfigurationAttr configuration,
                                     llvm::ArrayRef<tile::VariantAttr> variants, std::string &why);
/// Without its variants.
kernels::Configuration fromAttribute(tile::ConfigurationAttr attribute);

/// Makes the kinds of configurations of lib/Kernels and of loop programs known to the tile dialect.
void registerConfigurations(mlir::DialectRegistry &registry);

} // namespace tw::conversion
