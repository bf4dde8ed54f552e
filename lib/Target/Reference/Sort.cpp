// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw.sort: heap sort of (value, position) pairs in the results themselves, so that no more memory
// is needed; ordering equal values by position makes it stable. Where the results are shorter than
// the input, what comes before the root of a full heap takes its place.
#include "IR/Graph/Graph.h"
#include "Target/Reference/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tw::target::reference {
namespace {

struct Pair {
  Value value, position;
};

class SortEmitter {
public:
  SortEmitter(graph::SortOp op, Emitter &e)
      : op(op), e(e), input(e.buffer(op.getInput())), values(e.buffer(op.getValues())),
        positions(e.buffer(op.getIndices())), dim(op.getDim()) {}

  void emit() {
    SmallVector<Range> lines = e.ranges(input.sizes);
    lines[dim] = {0, 1, true};
    e.nest(lines, [&](ArrayRef<Ix> at) {
      Ix from = e.linear(input, at);
      firstValue = e.linear(values, at);
      firstPosition = e.linear(positions, at);
      line(from);
    });
  }

private:
  void line(const Ix &from) {
    Ix count = values.sizes[dim];
    auto element = [&](Ix i) -> Pair {
      return {e.load(input, e.ix().add(from, e.ix().mul(i, input.strides[dim]))), e.ix().value(i)};
    };
    e.loop(0, count, 1, [&](Ix i) { set(i, element(i)); });
    // Make a heap, its root the pair that comes last; then take the roots off.
    Ix half = e.ix().div(count, 2);
    e.loop(0, half, 1, [&](Ix i) { sift(e.ix().sub(e.ix().sub(half, 1), i), count); });
    Ix end = e.ix().select(e.ix().less(0, count), input.sizes[dim], count);
    e.loop(count, end, 1, [&](Ix i) {
      Pair next = element(i);
      e.ifThen(before(next, get(0)), [&] {
        set(0, next);
        sift(0, count);
      });
    });
    e.loop(1, count, 1, [&](Ix i) {
      Ix last = e.ix().sub(count, i);
      Pair root = get(0), other = get(last);
      set(last, root);
      set(0, other);
      sift(0, last);
    });
  }

  /// Sinks the pair at `start` in the heap [0, end).
  void sift(const Ix &start, const Ix &end) {
    Pair sinking = get(start);
    Type i64 = e.b.getI64Type();
    SmallVector<Type> types{i64, i64, sinking.value.getType(), i64};
    auto loop = scf::WhileOp::create(e.b, e.loc, types, ValueRange{e.ix().value(start)});
    OpBuilder::InsertionGuard guard(e.b);
    Block *test = e.b.createBlock(&loop.getBefore(), {}, {i64}, {e.loc});
    Value hole = test->getArgument(0);
    Ix child = e.ix().add(e.ix().mul(hole, 2), 1);
    Value exists = e.ix().less(child, end);
    auto pick =
        scf::IfOp::create(e.b, e.loc, TypeRange{e.b.getI1Type(), i64, types[2], i64}, exists, true);
    e.b.setInsertionPointToEnd(pick.thenBlock());
    largerChild(child, end, sinking);
    e.b.setInsertionPointToEnd(pick.elseBlock());
    scf::YieldOp::create(
        e.b, e.loc,
        ValueRange{e.constant(e.b.getI1Type(), 0), hole, sinking.value, sinking.position});
    e.b.setInsertionPointToEnd(test);
    scf::ConditionOp::create(
        e.b, e.loc, pick.getResult(0),
        ValueRange{hole, pick.getResult(1), pick.getResult(2), pick.getResult(3)});
    Block *step =
        e.b.createBlock(&loop.getAfter(), {}, types, SmallVector<Location>(types.size(), e.loc));
    set(step->getArgument(0), {step->getArgument(2), step->getArgument(3)});
    scf::YieldOp::create(e.b, e.loc, ValueRange{step->getArgument(1)});
    e.b.setInsertionPointAfter(loop);
    set(loop.getResult(0), sinking);
  }

  /// Yields whether `sinking` comes before the later one of two children, and that child.
  void largerChild(const Ix &left, const Ix &end, const Pair &sinking) {
    Pair first = get(left);
    Ix right = e.ix().add(left, 1);
    Value exists = e.ix().less(right, end);
    Ix safe = e.ix().select(exists, right, left);
    Pair second = get(safe);
    Value useRight = before(first, second);
    Value chosen = e.ix().value(e.ix().select(useRight, safe, left));
    Value value = arith::SelectOp::create(e.b, e.loc, useRight, second.value, first.value);
    Value position = arith::SelectOp::create(e.b, e.loc, useRight, second.position, first.position);
    Value sinks = before(sinking, {value, position});
    scf::YieldOp::create(e.b, e.loc, ValueRange{sinks, chosen, value, position});
  }

  /// Whether `x` comes before `y` in the result.
  Value before(const Pair &x, const Pair &y) {
    Value xy = less(x.value, y.value), yx = less(y.value, x.value);
    if (op.getDescending())
      std::swap(xy, yx);
    Value notAfter = arith::XOrIOp::create(e.b, e.loc, yx, e.constant(e.b.getI1Type(), 1));
    Value earlier = e.ix().less(x.position, y.position);
    Value tie = arith::AndIOp::create(e.b, e.loc, notAfter, earlier);
    return arith::OrIOp::create(e.b, e.loc, xy, tie);
  }

  /// x < y, where NaN is greater than every number.
  Value less(Value x, Value y) {
    if (!isa<FloatType>(x.getType()))
      return arith::CmpIOp::create(e.b, e.loc,
                                   op.getIsUnsigned() || x.getType().isInteger(1)
                                       ? arith::CmpIPredicate::ult
                                       : arith::CmpIPredicate::slt,
                                   x, y);
    if (x.getType().isF16() || x.getType().isBF16()) {
      x = e.widen(x);
      y = e.widen(y);
    }
    auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
      return arith::CmpFOp::create(e.b, e.loc, predicate, a, b);
    };
    Value onlyY = arith::AndIOp::create(e.b, e.loc, compare(arith::CmpFPredicate::ORD, x, x),
                                        compare(arith::CmpFPredicate::UNO, y, y));
    return arith::OrIOp::create(e.b, e.loc, compare(arith::CmpFPredicate::OLT, x, y), onlyY);
  }

  Pair get(const Ix &i) {
    return {e.load(values, e.ix().add(firstValue, e.ix().mul(i, values.strides[dim]))),
            e.load(positions, e.ix().add(firstPosition, e.ix().mul(i, positions.strides[dim])))};
  }

  void set(const Ix &i, const Pair &pair) {
    e.store(pair.value, values, e.ix().add(firstValue, e.ix().mul(i, values.strides[dim])));
    e.store(pair.position, positions,
            e.ix().add(firstPosition, e.ix().mul(i, positions.strides[dim])));
  }

  graph::SortOp op;
  Emitter &e;
  const Buffer input, values, positions;
  unsigned dim;
  Ix firstValue, firstPosition;
};

} // namespace

LogicalResult emitSort(Operation *op, Emitter &e) {
  SortEmitter(cast<graph::SortOp>(op), e).emit();
  return success();
}

} // namespace tw::target::reference
