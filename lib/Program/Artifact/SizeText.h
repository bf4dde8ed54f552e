// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace tw {

/// Dimension `dim` of a value of `main`, at the dispatch level, as an expression over the symbols
/// of its arguments, which the runtime can evaluate ("s0 * 2"); "" where it is none.
std::string sizeText(mlir::func::FuncOp main, mlir::Value tensor, int64_t dim);

/// The same of a dynamic dimension of an argument, as `tw.sizes` says it, and of a result, by
/// `tw.sizes` or what computes it; of a function without a body, too.
std::string argumentSizeText(mlir::func::FuncOp main, unsigned argument, int64_t dim);
std::string resultSizeText(mlir::func::FuncOp main, unsigned result, int64_t dim);

} // namespace tw
