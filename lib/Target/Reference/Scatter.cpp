// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.scatter: one serial nest in row-major order, as its meaning asks for.
#include "IR/Coded.h"
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::graph::Combine;

namespace tw::target::reference {

/// How an update meets the old value; sums of bools are "or".
static arith::AtomicRMWKind kindOf(graph::ScatterOp op, Type type) {
  using Kind = arith::AtomicRMWKind;
  bool isFloat = isa<FloatType>(type), isBool = type.isInteger(1);
  bool isUnsigned = op.getIsUnsigned() || isBool;
  switch (op.getCombine()) {
  case Combine::Set:
    return Kind::assign;
  case Combine::Add:
    return isFloat ? Kind::addf : isBool ? Kind::ori : Kind::addi;
  case Combine::Mul:
    return isFloat ? Kind::mulf : Kind::muli;
  case Combine::Min:
    return isFloat ? Kind::minimumf : isUnsigned ? Kind::minu : Kind::mins;
  case Combine::Max:
    return isFloat ? Kind::maximumf : isUnsigned ? Kind::maxu : Kind::maxs;
  }
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
    for (auto [input, map] :
         llvm::zip(scatter.getInputs(), scatter.getIndexingMaps().getAsValueRange<AffineMapAttr>()))
      arguments.push_back(e.load(e.buffer(input), e.ix().affine(map, at)));
    FailureOr<Values> yielded = e.body(scatter.getBody().front(), arguments, BodyScope{at});
    isGood &= succeeded(yielded);
    if (failed(yielded))
      return;
    Indices element(yielded->begin(), yielded->end() - 1);
    Value value = yielded->back();
    if (scatter.getCombine() != Combine::Set)
      value = arith::getReductionOp(kindOf(scatter, value.getType()), e.b, e.loc,
                                    e.load(to, element), value);
    e.store(value, to, element);
  });
  return success(isGood);
}

} // namespace tw::target::reference
