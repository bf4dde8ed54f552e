// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decisions about one kernel before any loop is emitted: which tensor values share storage and
// where it is, how many leading dimensions the parallel loop covers and in boxes of which size, and
// which inputs an out may overwrite.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tw::target::reference {

/// The storage of a chain of results, each written over the one before it (its init).
struct Storage {
  /// Any value of the chain: they have one type.
  mlir::Value value;
  /// Number of the out it is, when it is returned.
  std::optional<unsigned> out;
};

struct Plan {
  unsigned inputs = 0; // function arguments before the outs
  std::vector<Storage> storages;
  llvm::DenseMap<mlir::Value, unsigned> storageOf;
  /// DPS results whose init has storage of its own that must be copied first: op -> operand.
  llvm::DenseSet<mlir::OpOperand *> copiedInits;
  /// Returned values that are not where they belong: (value, out).
  std::vector<std::pair<mlir::Value, unsigned>> copies;
  /// How many leading dimensions of all results the parallel loop covers.
  int64_t rows = 0;
  /// Rows of a box in each of them; nullopt: all.
  std::vector<std::optional<int64_t>> box;
  std::vector<std::pair<unsigned, unsigned>> inPlace;

  /// Whether `value` is computed in the kernel (or a view of such a value).
  bool isComputed(mlir::Value value) const;
};

/// Plans `kernel`, which consists of generalised linalg, tensor and tw operations.
Plan makePlan(mlir::func::FuncOp kernel);

} // namespace tw::target::reference
