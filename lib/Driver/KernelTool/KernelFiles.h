// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a compilation as files that people read, edit and give back
// (docs/kernel-source.md).
#pragma once
#include "Driver/CApi/Session.h"
#include "Driver/Model/DispatchNames.h"
#include "Driver/Model/ModelKernels.h"
#include <functional>

namespace tw {

/// The files of one kernel, by the ends of their names; an empty one is not to be had.
struct KernelFiles {
  std::string source, tile, plan, assembly; // .cpp, .mlir, .plan, .s
  std::string remark;                       // why one is empty
};

/// Of the kernel under the names of the model; `target` as for CompiledKernel::print. Functions for
/// the reference target have their text alone. Files are missing where it is cancelled.
KernelFiles kernelFiles(const NamedKernel &named, const std::string &target,
                        const Cancellation &cancellation);

/// Puts edited kernels in the places of those that they say they replace, and remarks it. Errors:
/// KERNEL_5 when the model has no such kernel, KERNEL_7 when its signature is another one.
Status replaceKernels(mlir::ModuleOp module, const ModelKernels &kernels, Session &session);

} // namespace tw
