// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.sort: every element goes to the place whose number is how many come before it; of equal ones
// those that stand before it.
#include "Target/Reference/PlainLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::reference {

/// x < y, where NaN is greater than every number.
static Value isLess(graph::SortOp op, Emitter &e, Value x, Value y) {
  bool isUnsigned = op.getIsUnsigned() || x.getType().isInteger(1);
  if (!isa<FloatType>(x.getType()))
    return arith::CmpIOp::create(
        e.b, e.loc, isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x, y);
  auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpFOp::create(e.b, e.loc, predicate, a, b);
  };
  Value isOnlyY = arith::AndIOp::create(e.b, e.loc, compare(arith::CmpFPredicate::ORD, x, x),
                                        compare(arith::CmpFPredicate::UNO, y, y));
  return arith::OrIOp::create(e.b, e.loc, compare(arith::CmpFPredicate::OLT, x, y), isOnlyY);
}

LogicalResult emitSort(graph::SortOp op, Emitter &e) {
  const Buffer input = e.buffer(op.getInput()), values = e.buffer(op.getValues()),
               positions = e.buffer(op.getIndices());
  unsigned dim = op.getDim();
  e.nest(input.sizes, [&](ArrayRef<Ix> at) {
    Value own = e.load(input, at);
    Indices place(at);
    // Those that come first, then those that are neither before nor after and stand before.
    Value count = e.loop(
        0, input.sizes[dim], 1, e.constant(e.b.getI64Type(), 0), [&](Ix i, ArrayRef<Value> before) {
          place[dim] = i;
          Value other = e.load(input, place);
          Value isBefore = isLess(op, e, other, own);
          Value isAfter = isLess(op, e, own, other);
          if (op.getDescending())
            std::swap(isBefore, isAfter);
          Value stands = e.ix().less(i, at[dim]);
          Value counts = arith::SelectOp::create(
              e.b, e.loc, isAfter, isBefore, arith::OrIOp::create(e.b, e.loc, isBefore, stands));
          return Values{e.add(before[0], e.convert(counts, e.b.getI64Type(), false))};
        })[0];
    place[dim] = count;
    e.ifThen(e.ix().less(count, values.sizes[dim]), [&] {
      e.store(own, values, place);
      e.store(e.ix().value(at[dim]), positions, place);
    });
  });
  return success();
}

} // namespace tw::target::reference
