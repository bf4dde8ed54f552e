// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left of emitted values when their constants are folded.
#pragma once
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace tw::target::cpu {

class Folding {
public:
  /// A constant, a value that is the same, or `value`.
  mlir::OpFoldResult folded(mlir::Value value);
  /// Folds as if a value were this constant; before anything is folded that depends on it.
  void assume(mlir::Value value, mlir::Attribute constant) { known[value] = constant; }

private:
  llvm::DenseMap<mlir::Value, mlir::OpFoldResult> known;
};

/// The scalar that all lanes of a vector hold, as `splat` makes it; null: they may differ.
mlir::Value splatted(mlir::Value vector);

} // namespace tw::target::cpu
