// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Program/Artifact/Describe.h"
#include "Program/Host/HostEntry.h"
#include "Support/Cancellation.h"
#include "Target/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace tw {

/// The kernels that a program calls, by their names.
struct LoweredKernels {
  KernelTable kernels;
  llvm::StringMap<KernelSummary> texts;
};

/// Lowers every kernel that `module` calls into `into`, in the order of the first calls, on all
/// cores. Reports what a target says of kernels in that order, too, up to the first that fails. A
/// cancellation fails without a report.
mlir::FailureOr<LoweredKernels> lowerKernels(mlir::ModuleOp module, mlir::ModuleOp into,
                                             target::Target &target,
                                             const Cancellation *cancellation);

} // namespace tw
