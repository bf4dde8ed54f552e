// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tw::target::reference {

/// Brings a kernel into the few operations that have emitters: named linalg operations become
/// linalg.generic, elementwise operations on tensors too, merged slices are copied first.
mlir::LogicalResult prepareKernel(mlir::func::FuncOp kernel);

/// Adds the functions of the prepared `kernel` to `into`, as loops (scf, arith, math, llvm).
mlir::FailureOr<KernelInfo> lowerKernel(mlir::func::FuncOp kernel, mlir::ModuleOp into,
                                        const CpuFeatures &cpu);

} // namespace tw::target::reference
