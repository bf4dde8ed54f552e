// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-written kernels that a model may call.
#pragma once
#include "Driver/KernelTool/KernelSource.h"
#include "Support/Diagnostic.h"
#include "Support/KernelName.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tw {

/// A kernel that is given for one that the compiler makes: it says so (docs/kernel-source.md).
struct EditedKernel {
  mlir::OwningOpRef<mlir::Operation *> kernel; // a tile.kernel
  std::string replaces, file;
};

struct ModelKernels {
  mlir::OwningOpRef<mlir::ModuleOp> module; // of tile.kernel operations; null when none are given
  KernelNames names;
  std::vector<EditedKernel> edited; // no kernels to be called
  /// Of traced kernels that have parameters, with the values that they were traced with.
  KernelParameters parameters;
  std::vector<std::string> included; // files that their C++ includes
};

/// Where kernels are: files, and texts of the tile dialect.
struct KernelSources {
  std::vector<std::string> paths;
  std::vector<std::pair<std::string, std::string>> texts; // name, text
};

/// All kernels of these, with the parameters `configured`. Errors: those of readKernel
/// (KernelSource.h) and importKernelString; KERNEL_5 when two have one name.
Result<ModelKernels> readModelKernels(mlir::MLIRContext &context, const KernelSources &sources,
                                      const KernelParameters &configured = {});

} // namespace tw
