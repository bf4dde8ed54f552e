// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that a dispatch's result takes the place of: it is updated where it lies, instead of being
// copied.
#pragma once
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tw::conversion {

/// Whether in all calls of a dispatch's function an argument of it is state of the program whose
/// next value is a result, and which nobody reads after the call.
bool isReplacedState(llvm::ArrayRef<graph::DispatchOp> calls, mlir::BlockArgument argument,
                     unsigned result);

} // namespace tw::conversion
