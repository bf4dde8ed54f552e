// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace tw::tile {

/// Replaces calls of hand-written kernels (tw.kernel_call) by dispatches. The kernels are those of
/// the module itself and of `library`, which must outlive the pass and may be null; those of the
/// module that nobody calls are dropped.
std::unique_ptr<mlir::Pass> createBindCalls(mlir::ModuleOp library = {});

} // namespace tw::tile
