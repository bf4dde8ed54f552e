// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tile` dialect: kernels as grids of programs on tiles. docs/tile-programs.md.
#pragma once
#include "IR/Tile/ConfigurationSchema.h"
#include "Support/Size.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

namespace tw {
/// For the attribute that holds it.
inline llvm::hash_code hash_value(const Size &size) { return llvm::hash_value(size.str()); }
} // namespace tw

#include "IR/Tile/Tile.dialect.h.inc"
#include "IR/Tile/Tile.enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "IR/Tile/Tile.attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "IR/Tile/Tile.types.h.inc"
#define GET_OP_CLASSES
#include "IR/Tile/Tile.ops.h.inc"

namespace tw::tile {

/// The extents of a tile; constants where they are static.
std::vector<Size> extentsOf(mlir::RankedTensorType tile);

/// The type of a tile with these extents. Every extent must be valid, and not negative if constant.
mlir::RankedTensorType tileType(llvm::ArrayRef<Size> extents, mlir::Type element);

/// The sizes of a buffer.
std::vector<Size> sizesOf(BufferType buffer);

/// Why `type` cannot be that of a value in a kernel; nothing when it can: a scalar, or a tile whose
/// extents are all known. Symbols are not looked at.
std::optional<std::string> whyNotTile(mlir::Type type);

} // namespace tw::tile
