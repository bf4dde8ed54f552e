// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as text in the tile dialect.
#pragma once
#include "Support/Diagnostic.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace tw {

/// Parses and verifies a module of tile.kernel operations, at least one; `name` stands for the file
/// in locations and messages. Needed dialects are loaded into the context. Errors: IMPORT_100,
/// IMPORT_101 (where the text is wrong), IMPORT_108 (no kernel, or something else beside kernels),
/// KERNEL_3 (an output that nothing is ever stored to).
Result<mlir::OwningOpRef<mlir::ModuleOp>>
importKernelString(mlir::MLIRContext *context, std::string_view text, const std::string &name);

/// The kernel called `wanted`, or the only one when that is empty. Errors: IMPORT_109.
Result<mlir::Operation *> findKernel(mlir::ModuleOp module, const std::string &wanted,
                                     const std::string &name);

} // namespace tw
