// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Indexing/Scatter.h"
#include "TorchToGraph/Builders/Elementwise/Pointwise.h"
#include "TorchToGraph/Builders/Reshape.h"

using namespace mlir;

namespace tw::lower {

Value ScatterBody::position(int64_t dim) const {
  return graph::IndexOp::create(b, loc, b.getIndexType(), dim);
}

/// Dimensions of the iteration space that the inputs' sizes determine.
static llvm::SmallBitVector determined(ArrayRef<AffineMap> maps, size_t rank) {
  llvm::SmallBitVector found(rank);
  for (AffineMap map : maps)
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        found.set(dim.getPosition());
  return found;
}

Tensor scatter(Lowering &ctx, const Tensor &into, graph::Combine combine,
               ArrayRef<OpFoldResult> sizes, ArrayRef<PlacedInput> given, ScatterFn body) {
  SmallVector<PlacedInput> inputs(given);
  SmallVector<AffineMap> maps;
  for (const PlacedInput &input : inputs)
    maps.push_back(placedMap(input, sizes));
  if (!determined(maps, sizes.size()).all()) { // repeat the last one, usually the values
    Tensor &last = inputs.back().tensor;
    SmallVector<OpFoldResult> shape = ctx.sizesOf(last);
    shape.insert(shape.begin(), inputs.back().first, ctx.b.getIndexAttr(1));
    shape.append(sizes.size() - shape.size(), ctx.b.getIndexAttr(1));
    inputs.back() = {broadcastTo(ctx, reshape(ctx, last, shape), sizes), 0};
    maps.back() = ctx.b.getMultiDimIdentityMap(sizes.size());
  }
  SmallVector<Value> values;
  SmallVector<Type> arguments;
  for (const PlacedInput &input : inputs) {
    values.push_back(input.tensor.value);
    arguments.push_back(ctx.type(input.tensor.dtype));
  }
  auto op =
      graph::ScatterOp::create(ctx.b, ctx.loc, into.value.getType(), values, into.value,
                               ctx.b.getAffineMapArrayAttr(maps), combine, isUnsigned(into.dtype));
  OpBuilder::InsertionGuard guard(ctx.b);
  Block *block = ctx.b.createBlock(&op.getBody(), {}, arguments,
                                   SmallVector<Location>(arguments.size(), ctx.loc));
  ScatterBody place{{ctx.b, ctx.loc, ctx.shownName(), block}};
  Update update = body(place, block->getArguments());
  update.coordinates.push_back(update.value);
  graph::YieldOp::create(ctx.b, ctx.loc, update.coordinates);
  return {op.getResult(), into.dtype};
}

Tensor scatterWide(Lowering &ctx, const Tensor &into, graph::Combine combine,
                   ArrayRef<OpFoldResult> sizes, ArrayRef<PlacedInput> inputs, ScatterFn body) {
  Tensor wide = castTo(ctx, into, opmath(into.dtype));
  return castTo(ctx, scatter(ctx, wide, combine, sizes, inputs, body), into.dtype);
}

Tensor zeros(Lowering &ctx, ArrayRef<OpFoldResult> sizes, DType dtype) {
  return ctx.filled(sizes, dtype, Scalar::ofInt(ctx.b.getContext(), 0));
}

} // namespace tw::lower
