// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes operations of the torch dialect at one place of the output, with the location of the node
// that is being imported.
#pragma once
#include "IR/Torch/Torch.h"
#include "mlir/IR/Builders.h"

namespace tw::pt2 {

struct Emit {
  mlir::OpBuilder builder;
  mlir::Location loc;

  explicit Emit(mlir::MLIRContext *context)
      : builder(context), loc(mlir::UnknownLoc::get(context)) {}
  mlir::MLIRContext *context() { return builder.getContext(); }

  // Constants.
  mlir::Value integer(int64_t value);
  mlir::Value real(double value);
  mlir::Value boolean(bool value);
  mlir::Value string(llvm::StringRef value);
  mlir::Value none();
  /// [1, 2, 3].
  mlir::Value integers(llvm::ArrayRef<int64_t> values);
  /// A list of `!torch.int` values.
  mlir::Value list(mlir::ValueRange elements, mlir::Type elementType);

  /// The first result of "aten.NAME"; arguments that are not given take their defaults.
  mlir::Value aten(llvm::StringRef name, mlir::Type result,
                   llvm::ArrayRef<torch::AtenOp::Named> named);
  /// The size of `tensor` along `dim` (from the front): a constant when its type says it.
  mlir::Value size(mlir::Value tensor, int64_t dim);
  /// All sizes of `tensor` as a list; null when its type does not say how many there are.
  mlir::Value sizes(mlir::Value tensor);
  /// `value` with `type`, which says more or less about the same sizes.
  mlir::Value cast(mlir::Value value, mlir::Type type);
  /// `tensor` in the element type of `type`.
  mlir::Value convert(mlir::Value tensor, torch::ValueTensorType type);

  mlir::Type intType() { return torch::IntType::get(context()); }
  mlir::Type floatType() { return torch::FloatType::get(context()); }
  mlir::Type boolType() { return torch::BoolType::get(context()); }
};

} // namespace tw::pt2
