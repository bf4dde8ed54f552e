// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of the host program as the buffers of kernels, and back: reshapes, which move nothing.
#pragma once
#include "Kernels/Describe.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace tw::kernels {

class HostViews {
public:
  HostViews(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// Learns the sizes that symbols have from a tensor that becomes a buffer of `shape`.
  void learn(mlir::Value tensor, const BufferView &view, const std::vector<Extent> &shape);
  /// The tensor as a buffer.
  mlir::Value toBuffer(mlir::Value tensor, const BufferView &view,
                       const std::vector<Extent> &shape);
  /// The weight behind a tensor as a buffer in panels: axes in this `order`, of the first one
  /// `panel` elements last; `inPairs`: for two neighbours of the last one each. Null when the
  /// view's axes are no strided ones of the weight.
  mlir::Value packedWeight(mlir::Value tensor, const BufferView &view, llvm::ArrayRef<int> order,
                           int64_t panel, bool inPairs);
  /// A buffer as a tensor of the shape of `like`, from which dynamic sizes are taken.
  mlir::Value fromBuffer(mlir::Value buffer, const BufferView &view, mlir::Value like);
  /// Memory for a buffer.
  mlir::Value empty(const std::vector<Extent> &shape, mlir::Type element);

private:
  mlir::Value size(const Extent &extent);
  mlir::Value product(mlir::Value a, mlir::Value b);
  /// The sizes of the parts that the axes are cut into.
  llvm::SmallVector<mlir::OpFoldResult> partSizes(mlir::Value tensor, const BufferView &view);
  mlir::RankedTensorType partsType(const BufferView &view, mlir::Type element) const;
  mlir::RankedTensorType axesType(const BufferView &view, mlir::Type element) const;

  mlir::OpBuilder &b;
  mlir::Location loc;
  std::map<std::string, mlir::Value> symbols;
};

/// Whether packedWeight can give a tensor in panels.
bool canBePacked(mlir::Value tensor, const BufferView &view);

/// The type of a buffer as a tensor.
mlir::RankedTensorType bufferType(const std::vector<Extent> &shape, mlir::Type element);

} // namespace tw::kernels
