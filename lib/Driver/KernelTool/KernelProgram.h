// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model that is one call of a hand-written kernel.
#pragma once
#include "Driver/Model/ModelKernels.h"

namespace tw {

/// A module at the graph level whose entry calls the kernel `name` of `kernels`, or the only one
/// where that is empty. Inputs are the kernel's arguments in order, without its outputs, and are
/// called as there; a buffer that it reads and writes is an input that the program mutates.
/// Results are its outputs. Errors: IMPORT_109 (no such kernel).
Result<mlir::OwningOpRef<mlir::ModuleOp>> makeKernelProgram(const ModelKernels &kernels,
                                                            const std::string &name);

} // namespace tw
