// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace tw {

/// Every dialect and extension that the compiler uses.
void registerDialects(mlir::DialectRegistry &registry);

/// The kinds of configurations that templates and targets have: what a tile program's text may
/// name.
void registerConfigurations(mlir::DialectRegistry &registry);

} // namespace tw
