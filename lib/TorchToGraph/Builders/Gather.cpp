// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Gather.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Builders/Pointwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

Value GatherBody::position(int64_t dim) const { return linalg::IndexOp::create(b, loc, dim); }

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
    Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, constant(0));
    Value wrapped = arith::AddIOp::create(b, loc, index, bound);
    index = arith::SelectOp::create(b, loc, isNegative, wrapped, index);
  }
  return graph::CheckIndexOp::create(
      b, loc, index.getType(), index, bound,
      fmt::format("index %lld is out of range for dimension {} with size %lld", dim));
}

Tensor gather(Lowering &ctx, ArrayRef<OpFoldResult> sizes, DType dtype, ArrayRef<Tensor> inputs,
              GatherFn body) {
  Tensor result = ctx.empty(sizes, dtype);
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  for (const Tensor &input : inputs) {
    if (input.rank() > int64_t(sizes.size())) {
      ctx.refuse("an index has more dimensions than the result");
      return result;
    }
    values.push_back(input.value);
    maps.push_back(broadcastMap(input.type(), sizes));
  }
  maps.push_back(ctx.b.getMultiDimIdentityMap(sizes.size()));
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      ctx.b, ctx.loc, result.value.getType(), values, result.value, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        GatherBody place{b, loc};
        linalg::YieldOp::create(b, loc, body(place, args.take_front(inputs.size())));
      });
  return {generic.getResult(0), dtype};
}

} // namespace tw::lower
