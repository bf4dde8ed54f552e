// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Indexing/Gather.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

Value GatherBody::position(int64_t dim) const {
  OpBuilder::InsertionGuard guard(b);
  if (top != b.getInsertionBlock()) // linalg.index must be an operation of the body itself
    b.setInsertionPointToStart(top);
  return linalg::IndexOp::create(b, loc, dim);
}

Value GatherBody::constant(int64_t value) const {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value GatherBody::read(const Tensor &tensor, ValueRange coordinates) const {
  return tensor::ExtractOp::create(b, loc, tensor.value, coordinates);
}

Value GatherBody::safeIndex(Value x, DType dtype, Value bound, int64_t dim, bool wrap) const {
  Value index = x;
  if (!x.getType().isIndex())
    index = arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                       Element(b, loc, DType::I64).cast(x, dtype));
  if (wrap) {
    // One that is still negative stays as it was, so that the message shows what was given.
    Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, constant(0));
    Value wrapped = arith::AddIOp::create(b, loc, index, bound);
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, wrapped, constant(0));
    Value wraps = arith::AndIOp::create(b, loc, isNegative, inside);
    index = arith::SelectOp::create(b, loc, wraps, wrapped, index);
  }
  return graph::CheckIndexOp::create(
      b, loc, index.getType(), index, bound,
      fmt::format("{}index %lld is out of range for dimension {} with size %lld",
                  op.empty() ? "" : op + ": ", dim));
}

AffineMap placedMap(const PlacedInput &input, ArrayRef<OpFoldResult> sizes) {
  MLIRContext *context = input.tensor.value.getContext();
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < input.tensor.rank(); ++i) {
    int64_t at = input.first + i;
    bool repeated = input.tensor.size(i) == 1 && constantOf(sizes[at]) != 1;
    exprs.push_back(repeated ? getAffineConstantExpr(0, context) : getAffineDimExpr(at, context));
  }
  return AffineMap::get(sizes.size(), 0, exprs, context);
}

void requireNonEmpty(Lowering &ctx, OpFoldResult bound, ArrayRef<OpFoldResult> sizes, int64_t dim,
                     StringRef what) {
  auto isZero = [](OpFoldResult size) { return constantOf(size) == 0; };
  bool isLarger = ctx.allSizes().knownAtMost(ctx.b.getIndexAttr(1), bound);
  if (isLarger || llvm::any_of(sizes, isZero))
    return;
  IndexMath math{ctx.b, ctx.loc};
  Value zero = math.value(math.constant(0)), count = math.value(math.product(sizes));
  auto compare = [&](arith::CmpIPredicate predicate, Value x) -> Value {
    return arith::CmpIOp::create(ctx.b, ctx.loc, predicate, x, zero);
  };
  Value good =
      arith::OrIOp::create(ctx.b, ctx.loc, compare(arith::CmpIPredicate::ne, math.value(bound)),
                           compare(arith::CmpIPredicate::eq, count));
  graph::AssertOp::create(
      ctx.b, ctx.loc, good,
      fmt::format("{}: {} dimension {}, which has size 0", ctx.shownName(), what.str(), dim),
      ValueRange());
}

Tensor gatherPlaced(Lowering &ctx, ArrayRef<OpFoldResult> sizes, DType dtype,
                    ArrayRef<PlacedInput> inputs, GatherFn body) {
  Tensor result = ctx.empty(sizes, dtype);
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const PlacedInput &input : inputs) {
    values.push_back(input.tensor.value);
    maps.push_back(placedMap(input, sizes));
  }
  maps.push_back(ctx.b.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      ctx.b, ctx.loc, result.value.getType(), values, result.value, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        GatherBody place{b, loc, ctx.shownName(), b.getInsertionBlock()};
        linalg::YieldOp::create(b, loc, body(place, args.take_front(inputs.size())));
      });
  return {generic.getResult(0), dtype};
}

Tensor gather(Lowering &ctx, ArrayRef<OpFoldResult> sizes, DType dtype, ArrayRef<Tensor> inputs,
              GatherFn body) {
  SmallVector<PlacedInput> placed;
  for (const Tensor &input : inputs) {
    if (input.rank() > int64_t(sizes.size())) {
      ctx.refuse("an index has more dimensions than the result");
      return ctx.empty(sizes, dtype);
    }
    placed.push_back({input, int64_t(sizes.size()) - input.rank()});
  }
  return gatherPlaced(ctx, sizes, dtype, placed, body);
}

} // namespace tw::lower
