// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds operators without a lowering before anything is translated.
#pragma once
#include "TorchToGraph/TorchToGraph.h"
#include "mlir/Support/LogicalResult.h"

namespace tw::lower {

/// Whether the op reads or makes complex numbers, which no lowering knows.
bool usesComplex(mlir::Operation *op);

/// Whether nothing lowers or implements this op (ops of other dialects are not asked).
bool isUnsupported(mlir::Operation *op, const KernelNames &kernels);

/// Reports every unsupported operator of the module as an error of its own; failure if any.
mlir::LogicalResult reportUnsupported(mlir::ModuleOp module, const KernelNames &kernels);

} // namespace tw::lower
