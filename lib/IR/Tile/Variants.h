// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants: kernels that compute what another one does, made for calls in which a size that only
// calls tell is small, or for calls with many workers (threads).
//
//   tile.kernel @k(in %x: !tile.buffer<[M, 64], f32>, ...) symbols [M] ...
//       attributes {tile.variants = [@k_1, @k_6]}
//   tile.kernel @k_1(in %x: !tile.buffer<[M, 64], f32>, ...) symbols [M {min = 1, max = 1}] ...
//   tile.kernel @k_6(in %x: !tile.buffer<[M, 64], f32>, ...) symbols [M {max = 6}] ...
//   tile.kernel @k_many(...) ... attributes {tile.workers = 5}
//
// Dispatches name @k alone. A call runs the first variant whose symbols are within their bounds and
// that is for as many workers, or @k itself. Those for other numbers of workers cut the same sums
// in the same places, so that results are the same bits. What a pass does to a kernel it does to
// its variants, or it drops them.
#pragma once
#include "IR/Tile/Tile.h"

namespace tw::tile {

/// On a kernel that may have variants for small sizes, with or without any: the symbol of the size
/// that they are told apart by.
inline constexpr llvm::StringLiteral variantSizeName = "tile.variant_size";

/// In order; empty for most kernels.
llvm::SmallVector<KernelOp> variantsOf(KernelOp kernel);

/// The bound of a variant: the least that a symbol of it is at most.
int64_t mostOf(KernelOp variant);

/// How many workers a call has at least that goes to a kernel; 0: any number.
int64_t workersOf(KernelOp kernel);

/// What the name of a variant has behind that of its kernel: "_max6" or "_workers5".
std::string variantSuffix(KernelOp variant);

/// Makes these the variants of a kernel; none: it has none any more.
void setVariants(KernelOp kernel, llvm::ArrayRef<KernelOp> variants);

/// Erases the variants of a kernel, if it has any. Says so in the report, and `why`.
void dropVariants(KernelOp kernel, llvm::StringRef why);

/// The kernels that are a variant of another one.
llvm::DenseSet<mlir::Operation *> allVariants(mlir::ModuleOp module);

} // namespace tw::tile
