// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes of a function's arguments as values of its symbols: equal symbols are one SSA value.
#pragma once
#include "IR/Torch/Torch.h"
#include "TorchToGraph/Core/Sizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace tw::lower {

/// Takes the symbols from the torch function's torch.symbolic_int and torch.bind_symbolic_shape
/// ops, computes their values at the start of the new function from the sizes of its arguments,
/// tells `sizes` about them, and sets tw.symbols and tw.sizes. Dynamic sizes without a symbol get
/// symbols of their own. Returns the values by name.
llvm::StringMap<mlir::Value> bindSymbols(mlir::func::FuncOp from, mlir::func::FuncOp to,
                                         mlir::OpBuilder &b, Sizes &sizes);

/// The value of a size; `symbol` gives those of its symbols. Null when one has none.
mlir::OpFoldResult evaluateSize(mlir::OpBuilder &b, mlir::Location loc, mlir::AffineExpr size,
                                llvm::function_ref<mlir::Value(unsigned)> symbol);

} // namespace tw::lower
