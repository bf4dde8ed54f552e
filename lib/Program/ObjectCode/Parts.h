// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module in parts that are compiled at the same time.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <vector>

namespace tw {

/// Moves what `module` (LLVM dialect) defines to at most `most` modules: each definition to one of
/// them, local ones with all that uses them; the others declare what they use of it. Parts have
/// about as many operations as each other, and the largest comes first: the same each time.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>> splitInParts(mlir::ModuleOp module, size_t most);

} // namespace tw
