// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace tw {

/// Every dialect and extension that the compiler uses.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tw
