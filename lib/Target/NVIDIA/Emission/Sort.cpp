// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.sort by rank: an element stands where as many as are before it say. Each is compared with
// all of its line.
#include "Target/Common/Operations/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

class SortEmitter {
public:
  SortEmitter(Emitter &e, tile::SortOp op)
      : e(e), b(e.b), loc(e.loc), op(op), axis(op.getAxis()), extents(e.extents(op.getOperand())),
        count(e.extents(op.getValues())[axis]) {}

  LogicalResult run() {
    // Every element is looked at as often as the line is long.
    if (!e.materialized.contains(op.getOperand())) {
      Scratch whole = e.scratchFor(op.getOperand());
      if (failed(e.fill(whole, op.getOperand())))
        return failure();
      e.materialized[op.getOperand()] = whole;
    }
    input = e.materialized.find(op.getOperand())->second;
    values = e.scratchFor(op.getValues()), positions = e.scratchFor(op.getPositions());
    clearBeyond();
    LogicalResult done = e.overPoints(extents, [&](const Point &point) { return put(point); });
    e.barrier();
    e.materialized[op.getValues()] = values;
    e.materialized[op.getPositions()] = positions;
    return done;
  }

private:
  /// Results that are longer than the line hold 0 behind it.
  void clearBeyond() {
    if (count.same(extents[axis]) || (count.isConstant() && extents[axis].isConstant()))
      return;
    Indices results = extents;
    results[axis] = count;
    (void)e.overPoints(results, [&](const Point &point) {
      e.write(values, point, e.constant(values.element, 0));
      e.write(positions, point, e.constant(b.getI64Type(), 0));
      return success();
    });
    e.barrier();
  }

  /// Where the element at `point` comes, and puts it there if that is wanted.
  LogicalResult put(const Point &point) {
    Value own = e.read(input, point);
    SmallVector<Value> before{e.constant(b.getI64Type(), 0)};
    Point place = point;
    auto one = [&](const Ix &at) {
      place[axis] = at;
      Value other = e.read(input, place);
      Value comes = isBefore(other, own, e.ix().less(at, point[axis]));
      Value increment = arith::ExtUIOp::create(b, loc, b.getI64Type(), comes);
      before[0] = arith::AddIOp::create(b, loc, before[0], increment);
      return success();
    };
    if (failed(e.loop(0, extents[axis], 1, before, one)))
      return failure();
    place[axis] = before[0];
    OpBuilder::InsertionGuard guard(b);
    Value isWanted = e.ix().less(place[axis], count);
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, isWanted, false).thenBlock());
    e.write(values, place, own);
    e.write(positions, place, e.ix().value(point[axis]));
    return success();
  }

  /// Whether x comes before y: it is less, or neither is and it `stands` before y.
  Value isBefore(Value x, Value y, Value stands) {
    Value isLess = less(x, y), isMore = less(y, x);
    if (op.getDescending())
      std::swap(isLess, isMore);
    return arith::SelectOp::create(b, loc, isMore, e.constant(b.getI1Type(), 0),
                                   arith::OrIOp::create(b, loc, isLess, stands));
  }

  /// x < y, where NaN is greater than every number.
  Value less(Value x, Value y) {
    Type type = x.getType();
    bool isUnsigned = op.getIsUnsigned() || type.isInteger(1);
    if (!isa<FloatType>(type))
      return arith::CmpIOp::create(
          b, loc, isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x, y);
    if (type.getIntOrFloatBitWidth() == 16) {
      x = convertFloat(b, loc, x, b.getF32Type());
      y = convertFloat(b, loc, y, b.getF32Type());
    }
    auto compare = [&](arith::CmpFPredicate predicate, Value p, Value q) -> Value {
      return arith::CmpFOp::create(b, loc, predicate, p, q);
    };
    Value isOnlyY =
        e.both(compare(arith::CmpFPredicate::ORD, x, x), compare(arith::CmpFPredicate::UNO, y, y));
    return arith::OrIOp::create(b, loc, compare(arith::CmpFPredicate::OLT, x, y), isOnlyY);
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  tile::SortOp op;
  int64_t axis;
  Indices extents;
  Ix count;
  Scratch input, values, positions;
};

} // namespace

LogicalResult Emitter::sort(tile::SortOp op) { return SortEmitter(*this, op).run(); }

} // namespace tw::target::nvidia
