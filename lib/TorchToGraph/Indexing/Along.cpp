// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Indexing/Along.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Move.h"
#include "TorchToGraph/Builders/Reshape.h"

using namespace mlir;

namespace tw::lower {

Tensor atLeastVector(Lowering &ctx, const Tensor &tensor) {
  return tensor.rank() ? tensor : reshape(ctx, tensor, OpFoldResult(ctx.b.getIndexAttr(1)));
}

Tensor withRankOf(Lowering &ctx, const Tensor &tensor, const Tensor &like) {
  return like.rank() || !tensor.rank() ? tensor : reshape(ctx, tensor, {});
}

void requireInside(Lowering &ctx, const Tensor &self, int64_t dim, const Tensor &index) {
  auto have = ctx.sizesOf(self), want = ctx.sizesOf(index);
  for (int64_t d = 0; d < self.rank(); ++d)
    if (d != dim)
      requireAtMost(ctx, want[d], have[d],
                    "a size of the index (%lld) exceeds that of the tensor (%lld)");
}

/// Refuses an index that gather and scatter cannot take.
static bool needsIndex(Lowering &ctx, const Tensor &self, const Tensor &index) {
  if (isFloat(index.dtype) || index.dtype == DType::Bool)
    ctx.refuse("the index must be of integers");
  return !ctx.hasRefused() && ctx.needsRank(index, self.rank(), "the index");
}

/// An index without elements may have any rank.
static bool isEmpty(const Tensor &index) { return llvm::is_contained(index.type().getShape(), 0); }

Tensor gatherAlong(Lowering &ctx, const Tensor &given, int64_t dim, const Tensor &givenIndex) {
  if (isEmpty(givenIndex))
    return ctx.empty(ctx.sizesOf(givenIndex), given.dtype);
  Tensor self = atLeastVector(ctx, given), index = atLeastVector(ctx, givenIndex);
  if (ctx.hasRefused() || !needsIndex(ctx, self, index))
    return ctx.empty(ctx.sizesOf(givenIndex), given.dtype);
  requireInside(ctx, self, dim, index);
  auto space = ctx.sizesOf(index);
  OpFoldResult size = ctx.sizeOf(self, dim);
  requireNonEmpty(ctx, size, space, dim);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(size);
  Tensor result = gather(ctx, space, self.dtype, index, [&](GatherBody &body, ValueRange x) {
    SmallVector<Value> at = positions(body, self.rank());
    at[dim] = body.safeIndex(x[0], index.dtype, bound, dim, false);
    return body.read(self, at);
  });
  return withRankOf(ctx, result, givenIndex);
}

/// The part of `source` that an index of `sizes` reads.
static Tensor upTo(Lowering &ctx, Tensor source, ArrayRef<OpFoldResult> sizes) {
  auto have = ctx.sizesOf(source);
  for (int64_t d = 0; d < source.rank(); ++d) {
    requireAtMost(ctx, sizes[d], have[d],
                  "a size of the index (%lld) exceeds that of the source (%lld)");
    if (!knownEqual(sizes[d], have[d]))
      source = slice(ctx, source, d, ctx.b.getIndexAttr(0), sizes[d]);
  }
  return source;
}

Tensor scatterAlong(Lowering &ctx, const Tensor &given, int64_t dim, const Tensor &givenIndex,
                    const Operand &source, graph::Combine combine) {
  if (isEmpty(givenIndex))
    return given;
  Tensor self = atLeastVector(ctx, given), index = atLeastVector(ctx, givenIndex);
  if (ctx.hasRefused() || !needsIndex(ctx, self, index))
    return given;
  requireInside(ctx, self, dim, index);
  auto space = ctx.sizesOf(index);
  OpFoldResult size = ctx.sizeOf(self, dim);
  requireNonEmpty(ctx, size, space, dim);
  Value bound = IndexMath{ctx.b, ctx.loc}.value(size);
  SmallVector<PlacedInput> inputs = {{index, 0}};
  std::optional<Tensor> values;
  if (auto tensor = source.tensor()) {
    values = atLeastVector(ctx, *tensor);
    if (!ctx.needsRank(*values, self.rank(), "the source"))
      return given;
    values = upTo(ctx, *values, space);
    inputs.push_back({*values, 0});
  }
  bool wide = combine == graph::Combine::Add || combine == graph::Combine::Mul;
  DType dtype = wide ? opmath(self.dtype) : self.dtype;
  auto body = [&](ScatterBody &body, ValueRange x) {
    Element e(body.b, body.loc, dtype);
    SmallVector<Value> at = positions(body, self.rank());
    at[dim] = body.safeIndex(x[0], index.dtype, bound, dim, false);
    return Update{at, values ? e.cast(x[1], values->dtype)
                             : source.scalar()->element(body.b, body.loc, dtype)};
  };
  Tensor result = wide ? scatterWide(ctx, self, combine, space, inputs, body)
                       : scatter(ctx, self, combine, space, inputs, body);
  return withRankOf(ctx, result, given);
}

} // namespace tw::lower
