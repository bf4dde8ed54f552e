// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of the host program as the buffers of kernels, and back: reshapes, which move nothing.
// They are called what they are called in the function of the dispatch.
#pragma once
#include "GraphToTile/Analysis/Subkernels/Subkernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace tw::conversion {

class HostViews {
public:
  /// `arguments`: what the dispatch's function is called with.
  HostViews(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> arguments)
      : b(b), loc(loc), arguments(arguments) {}

  /// Learns the sizes that symbols have from a tensor that becomes a buffer of `shape`.
  void learn(const TensorUse &use, const std::vector<Extent> &shape);
  /// A tensor of the function as a buffer.
  mlir::Value toBuffer(const TensorUse &use, const std::vector<Extent> &shape);
  /// How a weight is packed: axes in this `order`, of the first one `width` elements last, and
  /// panels of its equal parts beside each other; then `group` neighbours of the last one side by
  /// side. What the last panel has too many is of no use, whatever it is.
  struct Panels {
    std::vector<int> order;
    int64_t width, parts = 1, group = 1;
  };
  /// The weight behind an argument as a buffer in panels. Null when the view's axes are no strided
  /// ones of the weight.
  mlir::Value packedWeight(mlir::Value tensor, const BufferView &view, const Panels &panels);
  /// Says in which buffer the tensor of a use is.
  void define(const TensorUse &use, mlir::Value buffer);
  /// A tensor of the function: an argument, one that is in a buffer, or a reshape.
  mlir::Value tensor(mlir::Value inFunction);
  /// Memory for a buffer.
  mlir::Value empty(const std::vector<Extent> &shape, mlir::Type element);

private:
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;
  mlir::Value size(const Extent &extent);
  mlir::Value product(mlir::Value a, mlir::Value b);
  /// The sizes of a tensor of the function; an index of it.
  Sizes sizesOf(mlir::Value inFunction);
  Sizes collapsed(mlir::tensor::CollapseShapeOp op);
  mlir::Value index(mlir::Value inFunction);
  mlir::OpFoldResult index(mlir::OpFoldResult inFunction);
  mlir::Value fromBuffer(const TensorUse &use, mlir::Value buffer);
  /// The sizes of the parts that the axes are cut into.
  Sizes partSizes(const TensorUse &use);
  mlir::RankedTensorType partsType(const BufferView &view, mlir::Type element) const;
  mlir::RankedTensorType axesType(const BufferView &view, mlir::Type element) const;

  struct Defined {
    BufferView view;
    mlir::Value buffer;
  };
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::ArrayRef<mlir::Value> arguments;
  std::map<std::string, mlir::Value> symbols;
  llvm::DenseMap<mlir::Value, Defined> buffers;
  std::map<int, mlir::Value> temporaries; // by number
  llvm::DenseMap<mlir::Value, mlir::Value> tensors, indices;
};

/// The type of a buffer as a tensor.
mlir::RankedTensorType bufferType(const std::vector<Extent> &shape, mlir::Type element);

} // namespace tw::conversion
