// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"

namespace tw {

/// Operations of one block whose results are known at compile time: they depend on weights and
/// constants alone.
class ConstantRegion {
public:
  explicit ConstantRegion(mlir::Block &block);

  bool contains(mlir::Value value) const {
    return value.getDefiningOp() && constant.contains(value.getDefiningOp());
  }

  /// Results worth storing: computed, read by something that is not constant, not too large.
  llvm::SmallVector<mlir::Value> frontier() const;

private:
  bool isConstant(mlir::Operation *op) const;
  bool isStored(mlir::Value result) const;

  llvm::SetVector<mlir::Operation *> constant;
};

/// A module with a function @constants that computes `values`, as ConstantEvaluator takes it, and
/// the kernels that it calls, which are in `from`.
mlir::OwningOpRef<mlir::ModuleOp> outlineConstants(llvm::ArrayRef<mlir::Value> values,
                                                   mlir::ModuleOp from);

} // namespace tw
