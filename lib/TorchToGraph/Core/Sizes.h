// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes of tensors, as constants or as values computed from the sizes of the arguments: no
// tensor.dim of an intermediate tensor stays behind.
#pragma once
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tw::lower {

/// Answers what size a tensor has, looking through the ops that made it, and remembers.
class Sizes {
public:
  /// All sizes of `tensor`; static ones as IntegerAttr. Emits arithmetic at `b`.
  llvm::SmallVector<mlir::OpFoldResult> of(mlir::OpBuilder &b, mlir::Location loc,
                                           mlir::Value tensor);
  /// Makes sure that two sizes are equal: emits a tw.assert with `message` (two %lld: the sizes)
  /// unless they are known to be, or were compared before.
  void requireEqual(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult x,
                    mlir::OpFoldResult y, llvm::StringRef message);
  /// States the sizes of a tensor nothing is known about (an argument).
  void set(mlir::Value tensor, mlir::ArrayRef<mlir::OpFoldResult> sizes);

  /// States that `value` is at least `minimum` (a symbol's range).
  void setMinimum(mlir::Value value, int64_t minimum) { minimums[value] = minimum; }
  /// Whether x <= y follows from constants and the ranges of symbols.
  bool knownAtMost(mlir::OpFoldResult x, mlir::OpFoldResult y) const;

  /// What is computed inside a region is not known outside of it: restores on leaving.
  class Scope {
  public:
    explicit Scope(Sizes &sizes) : sizes(sizes), saved(sizes.known), equal(sizes.equal) {}
    ~Scope() {
      sizes.known = std::move(saved);
      sizes.equal = std::move(equal);
    }

  private:
    Sizes &sizes;
    llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpFoldResult>> saved;
    llvm::DenseSet<std::pair<void *, void *>> equal;
  };

private:
  llvm::SmallVector<mlir::OpFoldResult> compute(mlir::OpBuilder &b, mlir::Location loc,
                                                mlir::Value tensor);
  std::optional<int64_t> minimumOf(mlir::Value value) const;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::OpFoldResult>> known;
  llvm::DenseSet<std::pair<void *, void *>> equal;
  llvm::DenseMap<mlir::Value, int64_t> minimums;
};

} // namespace tw::lower
