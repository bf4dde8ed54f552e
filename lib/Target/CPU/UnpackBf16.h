// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 as f32 beside the products of tile.dot: a vector is taken apart into two of f32, by one
// instruction each.
#pragma once
#include "Target/CPU/Emitter.h"

namespace tw::target::cpu {

/// Whether the second operand of a product is of bf16 that is taken apart, since sums are f32 and
/// the CPU's block has an even number of vectors in a row.
bool isUnpacked(const Emitter &e, tile::DotOp op);

/// A vector of bf16 as two of f32: the lower and the upper halves of its parts of 16 bytes.
std::pair<mlir::Value, mlir::Value> unpack(Emitter &e, mlir::Value bf16);

/// Puts each two vectors of f32 in the order of elements that `unpack` gives, or back in their own.
void reorder(Emitter &e, llvm::MutableArrayRef<mlir::Value> vectors, bool isBack);

/// Tiles [panel, K, width] whose columns b has side by side: a vector lies within one of them,
/// which is read from one end to the other. Nothing if b is not read so:
///
///   %p = tile.load %b[%panel, %k, %c0] : !tile.buffer<[N ceildiv 16, K, 16], bf16>
///          -> tensor<16x256x16xbf16>
///   %t = tile.transpose %p [1, 0, 2] : tensor<16x256x16xbf16> -> tensor<256x16x16xbf16>
///   %y = tile.reshape %t : tensor<256x16x16xbf16> -> tensor<256x256xbf16>
tile::LoadOp panelsOf(const Emitter &e, mlir::Value b);

} // namespace tw::target::cpu
