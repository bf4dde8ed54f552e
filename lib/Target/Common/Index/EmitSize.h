// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of a kernel in its code: expressions over symbols, which a call binds.
#pragma once
#include "IR/Tile/Tile.h"
#include "Support/Size.h"
#include "Target/Common/Index/Index.h"
#include <map>

namespace tw::target {

using SymbolValues = std::map<std::string, Ix>;

/// A size as arithmetic; all of its symbols have values. Sizes are checked by the call, so nothing
/// overflows.
Ix emitSize(mlir::OpBuilder &b, mlir::Location loc, const Size &size, const SymbolValues &symbols);

/// Gives symbols the values that follow from sizes whose values are known. The call has checked
/// that all of these equations hold.
void emitSymbols(mlir::OpBuilder &b, mlir::Location loc,
                 llvm::ArrayRef<std::pair<Size, mlir::Value>> equations, SymbolValues &symbols);

/// How often a tile.for runs whose operands are `begin`, `end` and `step` in the code:
/// max(0, ceildiv(end - begin, step)), 0 if step is 0; 2^63 - 1 for more, which no call lives to
/// see. No bounds are too far apart.
Ix emitTripCount(mlir::OpBuilder &b, tile::ForOp loop, const Ix &begin, const Ix &end,
                 const Ix &step);

} // namespace tw::target
