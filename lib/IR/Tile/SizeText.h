// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes in MLIR's text: what the declarative formats call as custom<Size>, custom<SizeText> and
// custom<SizeList>.
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::tile {

/// A size, as tw::Size::str writes it.
mlir::ParseResult parseSize(mlir::AsmParser &parser, SizeAttr &size);
void printSize(mlir::AsmPrinter &printer, mlir::Operation *, SizeAttr size);

mlir::ParseResult parseSizeText(mlir::AsmParser &parser, Size &size);
void printSizeText(mlir::AsmPrinter &printer, const Size &size);

/// `[size, ...]`.
mlir::ParseResult parseSizeList(mlir::AsmParser &parser, llvm::SmallVector<SizeAttr> &sizes);
void printSizeList(mlir::AsmPrinter &printer, llvm::ArrayRef<SizeAttr> sizes);

} // namespace tw::tile
