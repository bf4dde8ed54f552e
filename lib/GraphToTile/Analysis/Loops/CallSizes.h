// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which sizes in a dispatch's function are certainly the same: its calls tell what the function
// itself does not say of its arguments.
#pragma once
#include "IR/Graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tw::conversion {

class CallSizes {
public:
  explicit CallSizes(llvm::ArrayRef<graph::DispatchOp> calls) : calls(calls) {}

  llvm::ArrayRef<graph::DispatchOp> all() const { return calls; }
  /// Whether `size`, a constant or an index of the function, is how long `axis` of a tensor of the
  /// function is.
  bool isSizeOf(mlir::OpFoldResult size, mlir::Value tensor, int64_t axis) const;
  /// Whether two tensors of the function are equally long along `axis`.
  bool areSameSize(mlir::Value x, mlir::Value y, int64_t axis) const;

private:
  llvm::ArrayRef<graph::DispatchOp> calls;
};

/// Where the size of a tensor comes from: the tensor itself when it is an argument, else an
/// operation that takes its sizes (tensor.empty, expand_shape, extract_slice) or joins them.
mlir::Value sizeSource(mlir::Value tensor);

} // namespace tw::conversion
