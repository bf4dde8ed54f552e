// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Indexing/IndexList.h"
#include "Support/Counted.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

SmallVector<PlacedInput> IndexList::inputs() const {
  SmallVector<PlacedInput> result;
  for (const std::optional<Tensor> &index : indices)
    if (index)
      result.push_back({*index, first + count - index->rank()});
  return result;
}

Value IndexList::index(const GatherBody &body, int64_t d, Value element) const {
  Element e(body.b, body.loc, DType::I64);
  Value index = e.cast(element, indices[d]->dtype);
  if (!clamps)
    return index;
  Value size = arith::IndexCastOp::create(body.b, body.loc, body.b.getI64Type(), bounds[d]);
  return e.max(e.min(index, e.sub(size, e.constant(1))), e.neg(size));
}

/// Index tensors with nothing between them.
static bool areAdjacent(ArrayRef<std::optional<Tensor>> indices) {
  auto given = [](const std::optional<Tensor> &index) { return index.has_value(); };
  auto begin = llvm::find_if(indices, given);
  auto end = std::find_if_not(begin, indices.end(), given);
  return std::none_of(end, indices.end(), given);
}

static bool refuseIndices(Lowering &ctx, const Tensor &self,
                          ArrayRef<std::optional<Tensor>> indices) {
  if (int64_t(indices.size()) > self.rank()) {
    ctx.refuse(fmt::format("{} for a tensor of {}", counted(indices.size(), "index", "indices"),
                           counted(self.rank(), "dimension")));
    return true;
  }
  for (const std::optional<Tensor> &index : indices) {
    if (index && isMask(*index)) {
      ctx.refuse("a mask selects a number of elements that depends on the data; use torch.where, "
                 "or multiply by the mask");
      return true;
    }
    if (index && isFloat(index->dtype)) {
      ctx.refuse("indices must be integers");
      return true;
    }
  }
  return false;
}

IndexList indexList(Lowering &ctx, const Tensor &self) {
  IndexList list;
  list.self = self;
  list.indices = ctx.optTensors("indices");
  if (ctx.hasRefused() || refuseIndices(ctx, self, list.indices)) {
    list.indices.clear();
    list.self = ctx.empty({}, self.dtype);
    return list;
  }
  list.indices.resize(self.rank());
  SmallVector<Tensor> given;
  for (const std::optional<Tensor> &index : list.indices)
    if (index)
      given.push_back(*index);
  auto shared = broadcastSizes(ctx, given);
  auto sizes = ctx.sizesOf(self);
  list.count = shared.size();
  if (!given.empty() && areAdjacent(list.indices))
    while (!list.indices[list.first])
      ++list.first;
  IndexMath math{ctx.b, ctx.loc};
  for (auto [index, size] : llvm::zip_equal(list.indices, sizes)) {
    list.bounds.push_back(math.value(size));
    if (int64_t(list.space.size()) == list.first)
      llvm::append_range(list.space, shared);
    list.spaceDim.push_back(index ? -1 : int64_t(list.space.size()));
    if (!index)
      list.space.push_back(size);
  }
  for (auto [d, index] : llvm::enumerate(list.indices))
    if (index)
      requireNonEmpty(ctx, sizes[d], list.space, d);
  return list;
}

} // namespace tw::lower
