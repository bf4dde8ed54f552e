// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile program as C++ in the kernel language: tracing the text gives the program again
// (docs/kernel-source.md).
#pragma once
#include "IR/Tile/Tile.h"
#include "Support/Diagnostic.h"
#include <string>

namespace tw::source {

/// A whole file with this verified kernel; `doc`, which may be empty, says in a line what it does.
/// Comments say which line of a user's an operation comes from. Errors: DRIVER_3 for what the
/// kernel language cannot say.
Result<std::string> printSource(tile::KernelOp kernel, const std::string &doc = "");

/// Operations of kernels that the printer has no row for; none, if its table is complete. The
/// dialect is loaded.
std::vector<std::string> operationsWithoutSource(mlir::MLIRContext &context);

} // namespace tw::source
