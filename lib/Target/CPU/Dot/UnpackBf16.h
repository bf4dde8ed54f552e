// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bf16 as f32 beside the products of tile.dot: a vector is taken apart into two of f32, by one
// instruction each.
#pragma once
#include "Target/CPU/Emission/Emitter.h"

namespace tw::target::cpu {

/// A vector of bf16 as two of f32: the lower and the upper halves of its parts of 16 bytes.
std::pair<mlir::Value, mlir::Value> unpack(Emitter &e, mlir::Value bf16);

/// Puts each two vectors of f32 in the order of elements that `unpack` gives, or back in their own.
void reorder(Emitter &e, llvm::MutableArrayRef<mlir::Value> vectors, bool isBack);

} // namespace tw::target::cpu
