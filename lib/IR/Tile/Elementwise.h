// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operations of other dialects a kernel may use.
#pragma once
#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace tw::tile {

/// The elementwise operations, on scalars or on tiles of one shape: "arith.addf", ...; sorted.
llvm::ArrayRef<llvm::StringRef> elementwiseOperations();

/// Whether `op` is one of them.
bool isElementwise(mlir::Operation *op);

} // namespace tw::tile
