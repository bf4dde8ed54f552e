// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Binary search inside a body.
#pragma once
#include "TorchToGraph/Builders/Indexing/Gather.h"

namespace tw::lower {

/// The first position in [0, length) at which `holds` (i1) does, or `length`: where it holds, it
/// must hold at all later positions, too. Positions and `length` are i64.
mlir::Value firstWhere(const GatherBody &body, mlir::Value length,
                       llvm::function_ref<mlir::Value(mlir::Value position)> holds);

} // namespace tw::lower
