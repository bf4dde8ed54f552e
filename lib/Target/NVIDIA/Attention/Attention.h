// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of two chained products on the tensor cores, as attention has them: the sums of the first
// `dot` (the scores) become, row by row, the left operand of the second one, whose terms they are.
// Both are in one trip, or in loops over blocks of terms, which carry the second product's sums and
// numbers for each row. docs/nvidia-target.md, "Attention".
#pragma once
#include "IR/Tile/Tile.h"
#include "Target/NVIDIA/Product/Operand.h"
#include "Target/NVIDIA/Product/SumsStore.h"

namespace tw::target::nvidia {

/// Trips with one body: those of a loop, or, without one, the kernel's only trip.
struct AttentionPart {
  tile::ForOp loop;
  mlir::Block *block = nullptr;
  tile::DotOp scores, output;
  ProductOperand keys, values; // the right operands
};

struct Attention {
  /// One after the other; loops go on with what the one before them carried.
  std::vector<AttentionPart> parts;
  ProductOperand queries;
  std::vector<SumsStore> stores;
  unsigned sums = 0; // which of the loops' carried values are the second product's sums
  int64_t rows = 0, terms = 0, depth = 0, width = 0;
  mlir::Type element; // of the operands
};

struct AttentionMatch {
  std::optional<Attention> attention;
  std::string why;
};
AttentionMatch matchAttention(tile::KernelOp kernel);

/// Terms are multiplied by 16: so many with those that are 0.
int64_t paddedTerms(int64_t terms);

/// The point of a tile that has a number, or a line of numbers, for each row.
llvm::SmallVector<unsigned, 4> wideDims(mlir::Value tile);

} // namespace tw::target::nvidia
