// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph/ChannelsLast/ChannelOrder.h"
#include "Graph/Sizes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace tw {

ChannelOrder::ChannelOrder(llvm::SmallBitVector channels) : isChannel(std::move(channels)) {
  for (bool last : {false, true})
    for (unsigned dim = 0; dim < isChannel.size(); ++dim)
      if (isChannel.test(dim) == last)
        order.push_back(dim);
}

ChannelOrder ChannelOrder::ofImages(int64_t rank) {
  llvm::SmallBitVector channels(rank);
  channels.set(1);
  return ChannelOrder(channels);
}

AffineMap ChannelOrder::apply(AffineMap map) const {
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), apply(map.getResults()),
                        map.getContext());
}

/// Groups of the dimensions of a shape with one in each that is not 1; one group without
/// such, and none where there are no dimensions.
static SmallVector<ReassociationIndices> aroundNonUnits(ArrayRef<int64_t> shape) {
  SmallVector<ReassociationIndices> groups;
  bool isOpen = false; // the last group has no such dimension yet
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (groups.empty() || (size != 1 && !isOpen)) {
      groups.emplace_back();
      isOpen = true;
    }
    groups.back().push_back(int64_t(dim));
    isOpen = isOpen && size == 1;
  }
  return groups;
}

Value reorder(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> sizes = resolvedSizes(value, b), permuted;
  SmallVector<int64_t> shape, moving;
  for (int64_t dim : permutation) {
    permuted.push_back(sizes[dim]);
    shape.push_back(type.getDimSize(dim));
    if (shape.back() != 1)
      moving.push_back(dim);
  }
  auto resultType = type.clone(shape);
  if (llvm::is_sorted(permutation))
    return value;
  if (llvm::is_sorted(moving)) {
    SmallVector<int64_t> kept;
    for (int64_t size : type.getShape())
      if (size != 1)
        kept.push_back(size);
    if (kept.empty())
      kept.push_back(1);
    if (kept.size() < type.getShape().size())
      value = tensor::CollapseShapeOp::create(b, loc, type.clone(kept), value,
                                              aroundNonUnits(type.getShape()));
    if (kept.size() < shape.size())
      value =
          tensor::ExpandShapeOp::create(b, loc, resultType, value, aroundNonUnits(shape), permuted);
    return value;
  }
  Value init = tensor::EmptyOp::create(b, loc, permuted, type.getElementType());
  SmallVector<unsigned> written(permutation.begin(), permutation.end());
  MLIRContext *context = b.getContext();
  AffineMap maps[] = {inversePermutation(AffineMap::getPermutationMap(written, context)),
                      b.getMultiDimIdentityMap(unsigned(shape.size()))};
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      b, loc, resultType, value, init, maps, iterators,
      [](OpBuilder &b, Location loc, ValueRange x) { linalg::YieldOp::create(b, loc, x[0]); });
  return copy.getResult(0);
}

Value toOrder(OpBuilder &b, Location loc, Value value, const ChannelOrder &order) {
  return reorder(b, loc, value, order.dims());
}

Value toGraphOrder(OpBuilder &b, Location loc, const ReorderedTensor &reordered) {
  SmallVector<int64_t> back(reordered.order.dims().size());
  for (auto [i, dim] : llvm::enumerate(reordered.order.dims()))
    back[dim] = int64_t(i);
  return reorder(b, loc, reordered.value, back);
}

} // namespace tw
