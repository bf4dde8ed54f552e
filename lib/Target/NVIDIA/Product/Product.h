// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are one product on the tensor cores: a loop with one `dot` of f16 or bf16 summed in
// f32, whose operands TMA can bring to shared memory, and an elementwise epilogue, which can be
// computed where the sums are. docs/nvidia-target.md, "Products".
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Architecture.h"

namespace tw::target::nvidia {

/// An operand of the dot: a box of a buffer, of which two dimensions have extents other than 1. One
/// of them is the buffer's innermost.
struct ProductOperand {
  tile::LoadOp load;
  unsigned freeDim = 0, sumDim = 0; // of the buffer: rows (or columns) of the result, and the sum
  int64_t freeExtent = 0, sumExtent = 0;
  bool isSumInnermost = false;
};

/// Where the epilogue stores a tile of the result's shape, unit dimensions aside.
struct ProductStore {
  tile::StoreOp store;
  unsigned rowDim = 0, columnDim = 0; // of the tile
};

struct Product {
  tile::ForOp loop;
  tile::DotOp dot;
  ProductOperand a, b;
  std::vector<ProductStore> stores;
  int64_t rows = 0, columns = 0; // of a program's block of the result
  int64_t depth = 0;             // of one trip
  int64_t trips = 0;
  mlir::Type element; // of the operands
};

/// The product that `kernel` is, or why it is none that the tensor cores can take.
struct ProductMatch {
  std::optional<Product> product;
  std::string why;
  /// Whether there is a dot of 16-bit floats, so that `why` is worth a remark.
  bool isWanted = false;
};
ProductMatch matchProduct(tile::KernelOp kernel);

/// Bytes that the rows of what TMA reads or writes are multiples of, and its base, too.
inline constexpr int64_t tmaAlignment = 16;

/// Whether TMA can address `buffer` whatever the symbols are: up to five dimensions of at most 2^30
/// elements, rows of a multiple of 16 bytes.
bool canUseTensorMap(tile::KernelOp kernel, mlir::Value buffer, std::string &why);

} // namespace tw::target::nvidia
