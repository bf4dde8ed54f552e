// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes as expressions of symbols, as sympy prints them: "Add(Symbol('s0'), Integer(1))" and the
// older "s0 + 1".
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tw::pt2 {

/// The expression over affine symbols; `symbolIndex` numbers the names. Null when the text is not
/// understood or is no sum, product, quotient or remainder of symbols and constants.
mlir::AffineExpr parseSize(mlir::MLIRContext *context, llvm::StringRef text,
                           llvm::function_ref<unsigned(llvm::StringRef)> symbolIndex);

/// The name when the text is a symbol alone: "s0" or "Symbol('s0', integer=True)"; else empty.
llvm::StringRef loneSymbol(llvm::StringRef text);

} // namespace tw::pt2
