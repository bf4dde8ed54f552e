// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors whose channels lie last in memory, beside the ones of the graph that they stand for.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tw {

/// An order of a tensor's dimensions: those that are no channels, then those that are.
class ChannelOrder {
public:
  /// `channels`: which of the graph's dimensions are channels.
  explicit ChannelOrder(llvm::SmallBitVector channels);
  /// Of [N, C, spatial...].
  static ChannelOrder ofImages(int64_t rank);

  const llvm::SmallBitVector &channels() const { return isChannel; }
  /// The graph's dimensions in the order in which they lie.
  llvm::ArrayRef<int64_t> dims() const { return order; }
  bool isIdentity() const { return llvm::is_sorted(order); }
  bool operator==(const ChannelOrder &other) const { return isChannel == other.isChannel; }

  /// What belongs to the graph's dimensions, in the order in which they lie.
  template <typename T>
  llvm::SmallVector<T> apply(llvm::ArrayRef<T> ofGraph) const {
    llvm::SmallVector<T> reordered;
    for (int64_t dim : order)
      reordered.push_back(ofGraph[dim]);
    return reordered;
  }
  mlir::RankedTensorType apply(mlir::RankedTensorType type) const {
    return type.clone(apply(type.getShape()));
  }
  mlir::AffineMap apply(mlir::AffineMap map) const;

private:
  llvm::SmallBitVector isChannel;
  llvm::SmallVector<int64_t> order;
};

/// A tensor of the graph in another order.
struct ReorderedTensor {
  mlir::Value value;
  ChannelOrder order;
};

/// Dimension i of the result is dimension permutation[i] of `value`: a reshape where only
/// dimensions of size 1 move, else a copy.
mlir::Value reorder(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<int64_t> permutation);

/// A tensor of the graph in this order, and back.
mlir::Value toOrder(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                    const ChannelOrder &order);
mlir::Value toGraphOrder(mlir::OpBuilder &b, mlir::Location loc, const ReorderedTensor &reordered);

} // namespace tw
