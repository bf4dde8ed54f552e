// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/Operation.h"

namespace tw::graph {

/// Whether the host program does `op`: it is an operation of the entry, its loops and branches, not
/// one in the body of what becomes a kernel.
bool isHostLevel(mlir::Operation *op);

} // namespace tw::graph
