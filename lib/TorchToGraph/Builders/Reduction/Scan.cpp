// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Reduction/Scan.h"
#include "IR/Graph/Graph.h"

using namespace mlir;

namespace tw::lower {

SmallVector<Tensor> scan(Lowering &ctx, ArrayRef<Tensor> inputs, int64_t dim,
                         ArrayRef<DType> states, ArrayRef<Value> initial, ScanFn body,
                         bool reverse) {
  auto sizes = ctx.sizesOf(inputs.front());
  SmallVector<Value> values, outs;
  SmallVector<Type> arguments;
  for (DType dtype : states) {
    outs.push_back(ctx.empty(sizes, dtype).value);
    arguments.push_back(ctx.type(dtype));
  }
  for (const Tensor &input : inputs) {
    values.push_back(input.value);
    arguments.push_back(ctx.type(input.dtype));
  }
  auto op = graph::ScanOp::create(ctx.b, ctx.loc, TypeRange(ValueRange(outs)), values, initial,
                                  outs, dim, reverse);
  OpBuilder::InsertionGuard guard(ctx.b);
  Block *block = ctx.b.createBlock(&op.getBody(), {}, arguments,
                                   SmallVector<Location>(arguments.size(), ctx.loc));
  ValueRange all = block->getArguments();
  auto yielded = body(ctx.b, ctx.loc, all.take_front(states.size()), all.drop_front(states.size()));
  graph::YieldOp::create(ctx.b, ctx.loc, yielded);
  SmallVector<Tensor> results;
  for (auto [value, dtype] : llvm::zip_equal(op.getResults(), states))
    results.push_back({value, dtype});
  return results;
}

Value scanPosition(OpBuilder &b, Location loc, int64_t dim) {
  return graph::IndexOp::create(b, loc, b.getIndexType(), dim);
}

} // namespace tw::lower
