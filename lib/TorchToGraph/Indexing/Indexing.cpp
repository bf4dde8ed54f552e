// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads at positions that are data: index, gather, index_select, take. Each is one
// gather; what it reads is checked against the sizes at run time.
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "TorchToGraph/Families.h"
#include "TorchToGraph/Indexing/Along.h"
#include "TorchToGraph/Indexing/IndexList.h"

using namespace mlir;

namespace tw::lower {

//===----------------------------------------------------------------------===//
// self[i, :, j]
//===----------------------------------------------------------------------===//

static LogicalResult lowerIndex(Lowering &ctx) {
  Tensor self = ctx.tensor("self");
  IndexList list = indexList(ctx, self);
  if (ctx.hasRefused())
    return failure();
  if (list.inputs().empty())
    return ctx.done(self);
  return ctx.done(gatherPlaced(
      ctx, ctx.refined(list.space), self.dtype, list.inputs(),
      [&](GatherBody &body, ValueRange x) { return body.read(self, list.coordinates(body, x)); }));
}

/// self[indices] where the mask is true, `fill` elsewhere; indices are clamped.
static LogicalResult lowerMaskedIndex(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), mask = ctx.tensor("mask");
  Scalar fill = ctx.scalar("fill");
  IndexList list = indexList(ctx, self);
  if (ctx.hasRefused())
    return failure();
  list.clamps = true;
  if (mask.rank() > int64_t(list.space.size()))
    return ctx.refuse("the mask has more dimensions than the result");
  SmallVector<PlacedInput> inputs = list.inputs();
  inputs.push_back({mask, int64_t(list.space.size()) - mask.rank()});
  auto body = [&](GatherBody &body, ValueRange x) {
    Value value = body.read(self, list.coordinates(body, x));
    Element e(body.b, body.loc, self.dtype);
    Value isSet = e.as(mask.dtype).isNonZero(x.back());
    return e.select(isSet, value, fill.element(body.b, body.loc, self.dtype));
  };
  return ctx.done(gatherPlaced(ctx, ctx.refined(list.space), self.dtype, inputs, body));
}

//===----------------------------------------------------------------------===//
// Along one dimension
//===----------------------------------------------------------------------===//

static LogicalResult lowerGather(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index");
  int64_t dim = ctx.dim("dim", self.rank());
  return ctx.done(gatherAlong(ctx, self, dim, index));
}

/// All dimensions but one of two tensors broadcast together; without a dimension both are flat.
static LogicalResult lowerTakeAlongDim(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("indices");
  if (!ctx.has("dim")) {
    auto flat = [&](const Tensor &x) {
      return flatten(ctx, x, 0, std::max<int64_t>(x.rank(), 1) - 1);
    };
    return ctx.done(gatherAlong(ctx, flat(self), 0, flat(index)));
  }
  int64_t dim = ctx.dim("dim", self.rank());
  if (ctx.hasRefused() || !ctx.needsRank(index, self.rank(), "indices"))
    return failure();
  auto from = ctx.sizesOf(self), to = ctx.sizesOf(index);
  for (int64_t d = 0; d < self.rank(); ++d)
    if (d != dim) {
      bool repeatsIndex = constantOf(to[d]) == 1;
      if (!repeatsIndex && constantOf(from[d]) != 1)
        ctx.requireEqual(from[d], to[d]);
      OpFoldResult size = repeatsIndex ? from[d] : to[d];
      from[d] = to[d] = size;
    }
  return ctx.done(gatherAlong(ctx, broadcastTo(ctx, self, from), dim, broadcastTo(ctx, index, to)));
}

/// self[..., index, ...] with a vector (or a number) of positions.
static LogicalResult lowerIndexSelect(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index");
  int64_t dim = ctx.dim("dim", self.rank());
  if (index.rank() > 1)
    return ctx.refuse("index must be a vector");
  if (ctx.hasRefused())
    return failure();
  if (self.rank() == 0)
    return ctx.done(self);
  auto sizes = ctx.sizesOf(self), space = sizes;
  Tensor list = atLeastVector(ctx, index);
  space[dim] = ctx.sizeOf(list, 0);
  requireNonEmpty(ctx, sizes[dim], space, dim);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(sizes[dim]);
  return ctx.done(gatherPlaced(ctx, ctx.refined(space), self.dtype, PlacedInput{list, dim},
                               [&](GatherBody &body, ValueRange x) {
                                 SmallVector<Value> at = positions(body, self.rank());
                                 at[dim] = body.safeIndex(x[0], index.dtype, bound, dim, false);
                                 return body.read(self, at);
                               }));
}

/// Positions in the flat tensor.
static LogicalResult lowerTake(Lowering &ctx) {
  Tensor self = ctx.tensor("self"), index = ctx.tensor("index");
  Tensor flat = flatten(ctx, self, 0, std::max<int64_t>(self.rank(), 1) - 1);
  auto sizes = ctx.sizesOf(index);
  requireNonEmpty(ctx, ctx.sizeOf(flat, 0), sizes, 0);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(ctx.sizeOf(flat, 0));
  return ctx.done(gather(ctx, sizes, self.dtype, index, [&](GatherBody &body, ValueRange x) {
    return body.read(flat, body.safeIndex(x[0], index.dtype, bound, 0));
  }));
}

Family indexingFamily() {
  static constexpr LoweringRow rows[] = {
      {"torch.aten.index.Tensor", lowerIndex},
      {"torch.aten.index.Tensor_hacked_twin", lowerIndex},
      {"torch.aten._unsafe_index.Tensor", lowerIndex},
      {"torch.aten._unsafe_index.Tensor_hacked_twin", lowerIndex},
      {"torch.aten._unsafe_masked_index", lowerMaskedIndex},
      {"torch.aten.gather", lowerGather},
      {"torch.aten.take_along_dim", lowerTakeAlongDim},
      {"torch.aten.index_select", lowerIndexSelect},
      {"torch.aten.take", lowerTake},
  };
  return {"Indexing", rows};
}

} // namespace tw::lower
