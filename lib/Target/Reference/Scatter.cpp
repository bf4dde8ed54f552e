// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.scatter: one serial nest in row-major order, as its meaning asks for.
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "Target/Reference/Nest.h"
#include "Target/Reference/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::target::reference {

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
static Value make(Emitter &e, Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  if (type.isF16() || type.isBF16())
    return e.narrow(FloatOp::create(e.b, e.loc, e.widen(x), e.widen(y)), type);
  if (isa<FloatType>(type))
    return FloatOp::create(e.b, e.loc, x, y);
  if (isUnsigned || type.isInteger(1))
    return UnsignedOp::create(e.b, e.loc, x, y);
  return SignedOp::create(e.b, e.loc, x, y);
}

/// What an update makes of the old value; sums of bools are "or".
static Value combined(Emitter &e, graph::ScatterOp op, Value old, Value value) {
  bool isUnsigned = op.getIsUnsigned();
  bool isBool = old.getType().isInteger(1);
  switch (op.getCombine()) {
  case Combine::Set:
    return value;
  case Combine::Add:
    if (isBool)
      return arith::OrIOp::create(e.b, e.loc, old, value);
    return make<arith::AddFOp, arith::AddIOp, arith::AddIOp>(e, old, value, isUnsigned);
  case Combine::Mul:
    return make<arith::MulFOp, arith::MulIOp, arith::MulIOp>(e, old, value, isUnsigned);
  case Combine::Min:
    return make<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(e, old, value, isUnsigned);
  case Combine::Max:
    return make<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(e, old, value, isUnsigned);
  }
  return value;
}

LogicalResult emitScatter(Operation *op, Emitter &e) {
  auto scatter = cast<graph::ScatterOp>(op);
  auto sources = graph::iterationSizes(scatter);
  if (!sources)
    return emitCoded(op->getLoc(), Code::TARGET_2)
           << "the reference target cannot tell the iterations of this scatter";
  const Buffer to = e.buffer(scatter.getResult());
  SmallVector<Buffer> inputs;
  for (Value input : scatter.getInputs())
    inputs.push_back(e.buffer(input));
  SmallVector<Range> ranges;
  for (auto [input, dim] : *sources)
    ranges.push_back({0, inputs[input].sizes[dim], true});
  bool good = true;
  e.nest(ranges, [&](ArrayRef<Ix> at) {
    SmallVector<Value> arguments;
    for (auto [input, map] :
         llvm::zip(inputs, scatter.getIndexingMaps().getAsValueRange<AffineMapAttr>())) {
      Indices position;
      for (AffineExpr expr : map.getResults())
        position.push_back(affineIndex(e, expr, at));
      arguments.push_back(e.load(input, e.linear(input, position)));
    }
    auto yielded = e.body(scatter.getBody().front(), arguments, {at});
    good &= succeeded(yielded);
    if (failed(yielded))
      return;
    Ix element = e.linear(to, Indices(yielded->begin(), yielded->end() - 1));
    Value value = yielded->back();
    if (scatter.getCombine() != Combine::Set)
      value = combined(e, scatter, e.load(to, element), value);
    e.store(value, to, element);
  });
  return success(good);
}

} // namespace tw::target::reference
