// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the plan of a product and its emission ask of its operands.
#pragma once
#include "Target/CPU/CpuFeatures.h"
#include "Target/CPU/Plan/Plan.h"

namespace tw::target::cpu {

/// Terms of one chain of sums of f32 at most: one long chain is several times as far from the
/// exact sum as what other libraries compute.
constexpr int64_t longestChain = 256;

/// f32 for halves.
mlir::Type sumType(tile::DotOp op);
/// As which sums are counted when blocks are chosen: 4 or 8.
int64_t sumBytes(tile::DotOp op);

/// Whether b is of bf16 that is taken apart into two vectors of f32 (UnpackBf16.h), since sums are
/// f32 and the CPU's block has an even number of vectors in a row.
bool isUnpacked(const CpuFeatures &cpu, tile::DotOp op);

/// Tiles [panel, K, width] whose columns b has side by side: a vector lies within one of them,
/// which is read from one end to the other. Nothing if b is not read so:
///
///   %p = tile.load %b[%panel, %k, %c0] : !tile.buffer<[N ceildiv 16, K, 16], bf16>
///          -> tensor<16x256x16xbf16>
///   %t = tile.transpose %p [1, 0, 2] : tensor<16x256x16xbf16> -> tensor<256x16x16xbf16>
///   %y = tile.reshape %t : tensor<256x16x16xbf16> -> tensor<256x256xbf16>
tile::LoadOp panelsOf(const CpuFeatures &cpu, mlir::Value b);

/// b as [K / 2, N, 2], if it is read like that (DotPairs.h); else null.
mlir::Value pairsOf(mlir::Value b);

/// The steps along K as rows of a matrix, b or what is transposed to a, where these are several
/// dimensions of a box that is loaded: their places in memory do not follow from their numbers.
///
///   %x = tile.load %b[%n, %y, %c0, %c] -> tensor<1x4x56x64xf32>
///   %y = tile.reshape %x : tensor<1x4x56x64xf32> -> tensor<224x64xf32>
tile::ReshapeOp stepsOfBox(mlir::Value tile);

/// The transpose behind a, of what is no load but for the steps of a box.
tile::TransposeOp computedTranspose(tile::DotOp op);

/// Whether a load that ends before its tile does says where: at the end of its buffer.
bool endsAtBuffer(const Access &access);

} // namespace tw::target::cpu
