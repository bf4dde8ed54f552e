// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-written kernels that a model may call.
#pragma once
#include "Support/Diagnostic.h"
#include "Support/KernelName.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tw {

struct ModelKernels {
  mlir::OwningOpRef<mlir::ModuleOp> module; // of tile.kernel operations; null when none are given
  KernelNames names;
};

/// All kernels of these files. Errors: those of readKernel (KernelSource.h) and
/// importKernelString; KERNEL_5 when two have one name.
Result<ModelKernels> readModelKernels(mlir::MLIRContext &context,
                                      const std::vector<std::string> &paths);

} // namespace tw
