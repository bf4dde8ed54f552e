// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Indexing/BinarySearch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::lower {

/// Halves [low, high) as often as its length needs.
Value firstWhere(const GatherBody &body, Value length,
                 llvm::function_ref<Value(Value position)> holds) {
  OpBuilder &b = body.b;
  Location loc = body.loc;
  Element e(b, loc, DType::I64), boolean = e.as(DType::Bool);
  Value leading = math::CountLeadingZerosOp::create(b, loc, length);
  Value steps =
      arith::IndexCastOp::create(b, loc, b.getIndexType(), e.sub(e.constant(64), leading));
  SmallVector<Value> whole = {e.constant(0), length};
  auto loop = scf::ForOp::create(
      b, loc, body.constant(0), steps, body.constant(1), whole,
      [&](OpBuilder &, Location, Value, ValueRange range) {
        Value low = range[0], high = range[1];
        Value open = e.lt(low, high);
        Value middle = arith::ShRUIOp::create(b, loc, e.add(low, high), e.constant(1));
        Value stops = holds(e.select(open, middle, e.constant(0)));
        Value goesOn = boolean.conjunction(open, boolean.complement(stops));
        Value newLow = e.select(goesOn, e.add(middle, e.constant(1)), low);
        Value keepsHigh = boolean.disjunction(goesOn, boolean.complement(open));
        scf::YieldOp::create(b, loc, ValueRange{newLow, e.select(keepsHigh, high, middle)});
      });
  return loop.getResult(0);
}

} // namespace tw::lower
