// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Reduction/Reduce.h"
#include "TorchToGraph/Builders/Index.h"
#include "TorchToGraph/Builders/Reshape.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace tw::lower {

Value ReduceBody::position(int64_t dim) const {
  return linalg::IndexOp::create(b, loc, loopOfDim[dim]);
}

/// The loops: kept dimensions first, reduced ones last. Gives the loop of each dimension.
static SmallVector<int64_t> loopOrder(int64_t rank, ArrayRef<int64_t> reduced) {
  SmallVector<int64_t> loops(rank);
  int64_t next = 0;
  for (bool wantReduced : {false, true})
    for (int64_t i = 0; i < rank; ++i)
      if (llvm::is_contained(reduced, i) == wantReduced)
        loops[i] = next++;
  return loops;
}

/// A broadcasting map with its dimensions renamed to loops.
static AffineMap inLoops(AffineMap map, ArrayRef<int64_t> loops) {
  SmallVector<AffineExpr> dims;
  for (int64_t loop : loops)
    dims.push_back(getAffineDimExpr(loop, map.getContext()));
  return map.replaceDimsAndSymbols(dims, {}, loops.size(), 0);
}

SmallVector<Tensor> reduceMany(Lowering &ctx, const ReduceSpace &space, ArrayRef<Tensor> others,
                               ArrayRef<DType> accumulators, ArrayRef<Value> initial,
                               ReduceFn body) {
  int64_t rank = space.input.rank();
  auto sizes = ctx.sizesOf(space.input);
  SmallVector<int64_t> loops = loopOrder(rank, space.dims);
  int64_t kept = rank - space.dims.size();
  SmallVector<OpFoldResult> keptSizes;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(space.dims, i))
      keptSizes.push_back(sizes[i]);

  SmallVector<Value> inputs = {space.input.value}, inits;
  SmallVector<AffineMap> maps = {inLoops(broadcastMap(space.input.type(), sizes), loops)};
  for (const Tensor &other : others) {
    inputs.push_back(other.value);
    maps.push_back(inLoops(broadcastMap(other.type(), sizes), loops));
  }
  for (auto [dtype, start] : llvm::zip_equal(accumulators, initial)) {
    Value empty = ctx.empty(keptSizes, dtype).value;
    inits.push_back(linalg::FillOp::create(ctx.b, ctx.loc, start, empty).getResult(0));
    maps.push_back(leadingLoops(ctx.b.getContext(), rank, kept));
  }
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::reduction);
  std::fill_n(iterators.begin(), kept, utils::IteratorType::parallel);
  bool isEmpty = llvm::any_of(space.dims,
                              [&](int64_t dim) { return space.input.type().getDimSize(dim) == 0; });
  SmallVector<Value> values = inits;
  if (!isEmpty)
    values = linalg::GenericOp::create(
                 ctx.b, ctx.loc, TypeRange(ValueRange(inits)), inputs, inits, maps, iterators,
                 [&](OpBuilder &b, Location loc, ValueRange args) {
                   ReduceBody place{b, loc, loops};
                   linalg::YieldOp::create(
                       b, loc,
                       body(place, args.take_front(inputs.size()), args.drop_front(inputs.size())));
                 })
                 .getResults();
  SmallVector<Tensor> results;
  for (auto [dtype, value] : llvm::zip_equal(accumulators, values)) {
    Tensor result{value, dtype};
    results.push_back(space.keepDim ? insertUnitDims(ctx, result, space.dims) : result);
  }
  return results;
}

Tensor reduce(Lowering &ctx, const ReduceSpace &space, DType accumulate, InitialFn initial,
              ElementFn body, ArrayRef<Tensor> others) {
  Element outside(ctx.b, ctx.loc, accumulate);
  Value start = initial(outside);
  return reduceMany(ctx, space, others, accumulate, start,
                    [&](ReduceBody &place, ValueRange elements, ValueRange accumulators) {
                      Element e(place.b, place.loc, accumulate);
                      SmallVector<Value> x = {accumulators[0],
                                              e.cast(elements[0], space.input.dtype)};
                      for (auto [other, element] : llvm::zip_equal(others, elements.drop_front()))
                        x.push_back(e.cast(element, other.dtype));
                      return SmallVector<Value>{body(e, x)};
                    })
      .front();
}

Tensor reduceSum(Lowering &ctx, const ReduceSpace &space, DType accumulate) {
  return reduce(
      ctx, space, accumulate, [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) { return e.add(x[0], x[1]); });
}

Tensor reduceMax(Lowering &ctx, const ReduceSpace &space) {
  return reduce(
      ctx, space, space.input.dtype, [](Element &e) { return e.lowest(); },
      [](Element &e, ValueRange x) { return e.max(x[0], x[1]); });
}

Tensor reduceMin(Lowering &ctx, const ReduceSpace &space) {
  return reduce(
      ctx, space, space.input.dtype, [](Element &e) { return e.highest(); },
      [](Element &e, ValueRange x) { return e.min(x[0], x[1]); });
}

Tensor reduceMean(Lowering &ctx, const ReduceSpace &space, std::optional<DType> accumulate) {
  DType dtype = opmath(floatOf(space.input.dtype));
  Scalar count{Scalar::Kind::Int, reducedCount(ctx, space)};
  DType sums = accumulate.value_or(dtype);
  Tensor sum = reduceSum(ctx, space, sums);
  return pointwise(
      ctx, {sum, count}, dtype, [](Element &e, ValueRange x) { return e.div(x[0], x[1]); }, sums);
}

Tensor reduceSquares(Lowering &ctx, const ReduceSpace &space, const Tensor &mean,
                     std::optional<DType> accumulate) {
  return reduce(
      ctx, space, accumulate.value_or(opmath(space.input.dtype)),
      [](Element &e) { return e.constant(0); },
      [](Element &e, ValueRange x) {
        Value difference = e.sub(x[1], x[2]);
        return e.add(x[0], e.mul(difference, difference));
      },
      mean);
}

OpFoldResult reducedCount(Lowering &ctx, const ReduceSpace &space) {
  auto sizes = ctx.sizesOf(space.input);
  SmallVector<OpFoldResult> reduced;
  for (int64_t dim : space.dims)
    reduced.push_back(sizes[dim]);
  return IndexMath{ctx.b, ctx.loc}.product(reduced);
}

SmallVector<int64_t> allDims(const Tensor &tensor) {
  return llvm::to_vector(llvm::seq<int64_t>(0, tensor.rank()));
}

Tensor insertUnitDims(Lowering &ctx, const Tensor &tensor, ArrayRef<int64_t> dims) {
  auto sizes = ctx.sizesOf(tensor);
  SmallVector<OpFoldResult> expanded;
  unsigned next = 0;
  for (int64_t i = 0, rank = sizes.size() + dims.size(); i < rank; ++i)
    expanded.push_back(llvm::is_contained(dims, i) ? ctx.b.getIndexAttr(1)
                                                   : OpFoldResult(sizes[next++]));
  return reshape(ctx, tensor, expanded);
}

Tensor dropUnitDims(Lowering &ctx, const Tensor &tensor, ArrayRef<int64_t> dims) {
  SmallVector<OpFoldResult> sizes;
  for (auto [i, size] : llvm::enumerate(ctx.sizesOf(tensor)))
    if (!llvm::is_contained(dims, int64_t(i)))
      sizes.push_back(size);
  return reshape(ctx, tensor, sizes);
}

} // namespace tw::lower
