// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of bf16 in the CPU's own instructions, which multiply pairs of neighbours along K and
// add both products to a sum in f32: vdpbf16ps or bfdot on vectors, tdpbf16ps on the tiles of AMX.
//
// Pairs of b must lie next to each other, b as [K / 2, N, 2]. A kernel says so by how it reads b:
//
//   %p = tile.load %b[%n, %k2, %c0, %c0] : !tile.buffer<[N ceildiv 64, K ceildiv 2, 64, 2], bf16>
//          -> tensor<1x128x64x2xbf16>
//   %q = tile.reshape %p : tensor<1x128x64x2xbf16> -> tensor<128x64x2xbf16>
//   %t = tile.transpose %q [0, 2, 1] : tensor<128x64x2xbf16> -> tensor<128x2x64xbf16>
//   %y = tile.reshape %t : tensor<128x2x64xbf16> -> tensor<256x64xbf16>
//
// Else b is packed beside the product (PackPairs.h), if it is used by enough rows.
#pragma once
#include "Target/CPU/Dot/BlockPrefetch.h"

namespace tw::target::cpu {

/// Where operands lie: a as [M, K], b as [K / 2, N, 2].
struct PairOperands {
  Memory a, b;
  int64_t depth; // along K
};

/// The operands of a product that the CPU has instructions for, where they are or in scratch.
mlir::FailureOr<PairOperands> pairOperands(Emitter &e, tile::DotOp op, const DotStep &plan);

/// Adds to `rows` x `vectors` sums from (row, column) on, with as many parts of the steps along K
/// side by side as there are `streams`. `prefetch` may be null.
mlir::LogicalResult pairBlock(Emitter &e, const PairOperands &operands, const Ix &row,
                              const Ix &column, unsigned rows, unsigned vectors,
                              const BlockPrefetch *prefetch, int64_t streams,
                              llvm::SmallVectorImpl<mlir::Value> &sums);

/// Adds to all sums, which are in memory; or writes them there, if they begin with zero.
mlir::LogicalResult tileProduct(Emitter &e, const PairOperands &operands, const Memory &sums,
                                tile::DotOp op, const DotStep &plan);

} // namespace tw::target::cpu
