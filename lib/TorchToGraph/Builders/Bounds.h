// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python's indices and slices as positions that are certainly inside: what is known is checked when
// the program is compiled, the rest when it runs.
#pragma once
#include "TorchToGraph/Core/Lowering.h"

namespace tw::lower {

/// Makes sure that x <= y: refuses when known to be false, checks at run time when not known.
/// `message` names both: "dimension 1 of size %lld cannot ... %lld" (first x, then y).
void requireAtMost(Lowering &ctx, mlir::OpFoldResult x, mlir::OpFoldResult y,
                   const llvm::Twine &message);
/// As requireAtMost, for x == y.
void requireSame(Lowering &ctx, mlir::OpFoldResult x, mlir::OpFoldResult y,
                 const llvm::Twine &message);
/// As requireAtMost, for x != y.
void requireDifferent(Lowering &ctx, mlir::OpFoldResult x, mlir::OpFoldResult y,
                      const llvm::Twine &message);
/// Makes sure that sizes the program computes are not negative.
void requireSizes(Lowering &ctx, llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// As ctx.refined, for positions that are computed from the result's sizes: refuses static sizes
/// that differ from what the program says.
llvm::SmallVector<mlir::OpFoldResult> agreedSizes(Lowering &ctx,
                                                  llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// min(x, y) and max(x, y), folded where the symbols' ranges tell which it is.
mlir::OpFoldResult smaller(Lowering &ctx, mlir::OpFoldResult x, mlir::OpFoldResult y);
mlir::OpFoldResult greater(Lowering &ctx, mlir::OpFoldResult x, mlir::OpFoldResult y);

/// `index`, or index + size where it is negative.
mlir::OpFoldResult wrappedIndex(Lowering &ctx, mlir::OpFoldResult index, mlir::OpFoldResult size);
/// `index` into a dimension of `size`: negative ones count from the end; others must be inside.
mlir::OpFoldResult checkedIndex(Lowering &ctx, mlir::OpFoldResult index, mlir::OpFoldResult size,
                                int64_t dim);

/// An argument that is a position: unlike a size it may depend on the data.
mlir::OpFoldResult positionArgument(Lowering &ctx, llvm::StringRef name);

/// The arguments self and dim; refuses a tensor without dimensions.
std::pair<Tensor, int64_t> selfAndDim(Lowering &ctx);

/// Positions start, start + step, ..., `length` of them, all inside.
struct Range {
  mlir::OpFoldResult start, length;
  int64_t step = 1;
};
/// Python's [start:end:step] of a dimension of `size`: ends beyond it are moved to it.
Range pythonRange(Lowering &ctx, mlir::OpFoldResult size, mlir::OpFoldResult start,
                  mlir::OpFoldResult end, int64_t step = 1);
/// The range that the arguments start, end (None: all) and step of an operator say.
Range rangeArgument(Lowering &ctx, mlir::OpFoldResult size);

} // namespace tw::lower
