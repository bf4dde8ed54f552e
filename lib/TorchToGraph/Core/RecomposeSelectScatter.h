// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace tw::lower {

/// Core ATen has no select_scatter; export decomposes it:
///
///   where(arange(N).view(1, -1, 1) == i, x.unsqueeze(1).expand(...), base)
///
/// This makes select_scatter(base, x, 1, i) of it again, which writes what changes.
void recomposeSelectScatter(mlir::ModuleOp module);

} // namespace tw::lower
