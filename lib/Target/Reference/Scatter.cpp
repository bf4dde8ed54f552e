// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.scatter: one serial nest in row-major order, as its meaning asks for.
#include "IR/Coded.h"
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::target::reference {

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
static Value make(Emitter &e, Value x, Value y, bool isUnsigned) {
  if (isa<FloatType>(x.getType()))
    return FloatOp::create(e.b, e.loc, x, y);
  if (isUnsigned)
    return UnsignedOp::create(e.b, e.loc, x, y);
  return SignedOp::create(e.b, e.loc, x, y);
}

/// What an update makes of the old value; sums of bools are "or".
static Value combined(Emitter &e, graph::ScatterOp op, Value old, Value value) {
  bool isBool = old.getType().isInteger(1), isUnsigned = op.getIsUnsigned() || isBool;
  switch (op.getCombine()) {
  case Combine::Set:
    return value;
  case Combine::Add:
    return isBool ? arith::OrIOp::create(e.b, e.loc, old, value).getResult() : e.add(old, value);
  case Combine::Mul:
    return e.mul(old, value);
  case Combine::Min:
    return make<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(e, old, value, isUnsigned);
  case Combine::Max:
    return make<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(e, old, value, isUnsigned);
  }
  return value;
}

LogicalResult emitScatter(graph::ScatterOp scatter, Emitter &e) {
  auto sources = graph::iterationSizes(scatter);
  if (!sources)
    return emitCoded(scatter.getLoc(), Code::TARGET_2)
           << "the reference target cannot tell the iterations of this scatter";
  const Buffer to = e.buffer(scatter.getResult());
  Indices sizes;
  for (auto [input, dim] : *sources)
    sizes.push_back(e.buffer(scatter.getInputs()[input]).sizes[dim]);
  bool isGood = true;
  e.nest(sizes, [&](ArrayRef<Ix> at) {
    Values arguments;
    for (auto [input, map] : llvm::zip(
             scatter.getInputs(), scatter.getIndexingMaps().getAsValueRange<AffineMapAttr>()))
      arguments.push_back(e.load(e.buffer(input), e.affine(map, at)));
    FailureOr<Values> yielded = e.body(scatter.getBody().front(), arguments, BodyScope{at});
    isGood &= succeeded(yielded);
    if (failed(yielded))
      return;
    Indices element(yielded->begin(), yielded->end() - 1);
    Value value = yielded->back();
    if (scatter.getCombine() != Combine::Set)
      value = combined(e, scatter, e.load(to, element), value);
    e.store(value, to, element);
  });
  return success(isGood);
}

} // namespace tw::target::reference
