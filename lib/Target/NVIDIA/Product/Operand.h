// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What TMA brings to shared memory for the tensor cores: boxes of buffers, as operands of a dot.
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::target::nvidia {

/// An operand of a dot: a box of a buffer, of which two dimensions have extents other than 1. One
/// of them is the buffer's innermost.
struct ProductOperand {
  tile::LoadOp load;
  unsigned freeDim = 0, sumDim = 0; // of the buffer: rows (or columns) of the result, and the sum
  int64_t freeExtent = 0, sumExtent = 0;
  bool isSumInnermost = false;
  bool needsAlignedRows = false; // whose length is known only at the call
};

/// Finds the load behind an operand of a dot, whose dimension `freeAxis` is no sum's, through
/// reshapes and transposes; false, and why, where TMA cannot bring it. `mayBeOne`: of the other
/// dimension it may have one element, beside which what lies in the buffer may be brought.
bool findOperand(mlir::Value value, unsigned freeAxis, ProductOperand &operand, std::string &why,
                 bool mayBeOne = false);

/// Finds the one load of as many elements as an operand has, from which it is computed element by
/// element (what else it needs is read in place); false, and why, where TMA cannot bring it.
bool findComputedOperand(mlir::Value value, unsigned freeAxis, ProductOperand &operand,
                         std::string &why);

/// Follows dimensions `dims` from the result of a reshape to its operand; dimensions of extent 1
/// may come and go, all others are of known size and stay.
bool throughReshape(tile::ReshapeOp op, std::array<unsigned, 2> &dims);

/// Bytes that the rows of what TMA reads or writes are multiples of, and its base, too.
inline constexpr int64_t tmaAlignment = 16;

/// Whether TMA can address `buffer` whatever the symbols are: up to five dimensions of at most 2^30
/// elements, rows of a multiple of 16 bytes. With `needsAlignedRows`: or if rows of a length known
/// only at the call are such multiples, which it then says.
bool canUseTensorMap(mlir::Value buffer, std::string &why, bool *needsAlignedRows = nullptr);

/// Whether no thread reads what another one may have stored.
bool readsNoResult(tile::KernelOp kernel, std::string &why);

inline bool isHalf(mlir::Type type) { return type.isF16() || type.isBF16(); }

} // namespace tw::target::nvidia
