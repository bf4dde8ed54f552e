// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Emission/SortRecords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tw::target::cpu {

constexpr int64_t mostByRank = 128;
constexpr int64_t digitBits = 8, digitValues = 1 << digitBits;

SortRecords::SortRecords(Emitter &e, unsigned bits, const Size &half)
    : e(e), b(e.b), loc(e.loc), i64(b.getI64Type()), bits(bits), capacity(e.size(half)) {
  keys = e.allocate({Size(2), half}, i64).base;
  if (isWide())
    places = e.allocate({Size(2), half}, i64).base;
  if (auto known = half.constant(); !known || *known > mostByRank)
    counters = e.allocate({Size(bits / digitBits), Size(digitValues)}, i64).base;
  ranks = e.allocate({Size(mostByRank)}, i64).base;
}

Value SortRecords::positionAt(const Ix &index) {
  if (isWide())
    return load(places, index);
  return arith::AndIOp::create(b, loc, load(keys, index), number(0xffffffff));
}

void SortRecords::set(const SortRecord &record, const Ix &index, Value mask) {
  e.storeTo(record.key, keys, i64, index, 1, mask);
  if (isWide())
    e.storeTo(record.position, places, i64, index, 1, mask);
}

Ix SortRecords::sorted(const Ix &size) {
  if (auto known = size.constant())
    return *known <= mostByRank ? byRank(size) : byDigits(size);
  if (!counters)
    return byRank(size);
  auto choice = scf::IfOp::create(b, loc, TypeRange{i64}, ix().less(size, mostByRank + 1), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, ix().value(byRank(size)));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, ix().value(byDigits(size)));
  return choice.getResult(0);
}

/// How many records stand before each.
void SortRecords::rankAll(const Ix &size) {
  SmallVector<Value> none;
  Point point{{Ix(0)}, -1, 1};
  (void)e.alongDimension(point, 0, 0, size, width(), none, [&](const Point &at, auto &) {
    bool isVector = at.lane >= 0 && e.lanes > 1;
    Value pad = e.mask ? e.constant(i64, 0) : Value();
    Value own = e.loadFrom(keys, i64, at.at[0], isVector, 1, e.mask, pad);
    Value number = ix().value(at.at[0]), zero = e.constant(i64, 0);
    if (isVector) {
      own = e.asVector(own);
      number = arith::AddIOp::create(b, loc, e.splat(number), e.laneOffsets(1));
      zero = e.splat(zero);
    }
    SmallVector<Value> rank = {zero};
    (void)e.loop(0, size, 1, rank, [&](const Ix &other) {
      Value isLess = isBefore(other, own, number, isVector);
      Value one = arith::ExtUIOp::create(b, loc, own.getType(), isLess);
      rank[0] = arith::AddIOp::create(b, loc, rank[0], one);
      return success();
    });
    e.storeTo(rank[0], ranks, i64, at.at[0], 1, isVector ? e.mask : Value());
    return success();
  });
}

/// Each record goes where as many stand before it as are less than it. Equal keys stand in the
/// order of their positions before.
Ix SortRecords::byRank(const Ix &size) {
  rankAll(size);
  SmallVector<Value> none;
  (void)e.loop(0, size, 1, none, [&](const Ix &i) {
    set(at(i), ix().add(capacity, load(ranks, i)));
    return success();
  });
  return capacity;
}

/// Whether record `other` comes before the records `own`, whose numbers are `number`.
Value SortRecords::isBefore(const Ix &other, Value own, Value number, bool isVector) {
  auto same = [&](Value scalar) { return isVector ? e.splat(scalar) : scalar; };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value key = same(load(keys, other));
  Value isLess = compare(arith::CmpIPredicate::ult, key, own);
  if (!isWide())
    return isLess;
  Value isEqual = compare(arith::CmpIPredicate::eq, key, own);
  Value isEarlier = compare(arith::CmpIPredicate::slt, same(ix().value(other)), number);
  return arith::OrIOp::create(b, loc, isLess, arith::AndIOp::create(b, loc, isEqual, isEarlier));
}

int64_t SortRecords::digits() const { return bits / digitBits; }

/// Which counter of a digit a key belongs to.
Ix SortRecords::counterOf(Value key, int64_t digit) {
  int64_t shift = digit * digitBits + (isWide() ? 0 : 32);
  Value shifted = shift ? Value(arith::ShRUIOp::create(b, loc, key, number(shift))) : key;
  Value value = arith::AndIOp::create(b, loc, shifted, number(digitValues - 1));
  return ix().add(digit * digitValues, value);
}

void SortRecords::clearCounters() {
  SmallVector<Value> none;
  Point point{{Ix(0)}, -1, 1};
  (void)e.alongDimension(point, 0, 0, digits() * digitValues, width(), none,
                         [&](const Point &at, auto &) {
                           bool isVector = at.lane >= 0 && e.lanes > 1;
                           Value zero = e.constant(i64, 0);
                           e.storeTo(isVector ? e.splat(zero) : zero, counters, i64, at.at[0], 1,
                                     isVector ? e.mask : Value());
                           return success();
                         });
}

Ix SortRecords::byDigits(const Ix &size) {
  clearCounters();
  SmallVector<Value> none;
  (void)e.loop(0, size, 1, none, [&](const Ix &i) {
    Value key = load(keys, i);
    for (int64_t digit = 0; digit < digits(); ++digit) {
      Ix counter = counterOf(key, digit);
      store(ix().value(ix().add(load(counters, counter), 1)), counters, counter);
    }
    return success();
  });
  Ix from = 0;
  for (int64_t digit = 0; digit < digits(); ++digit)
    from = byDigit(size, from, digit);
  return from;
}

/// Moves the records from one half to the other, in the order of a digit; not where it is the
/// same in all. Gives where they are then.
Ix SortRecords::byDigit(const Ix &size, const Ix &from, int64_t digit) {
  SmallVector<Value> sums = {number(0), number(0)}; // so far, and the most of one value
  (void)e.loop(0, digitValues, 1, sums, [&](const Ix &value) {
    Ix counter = ix().add(digit * digitValues, value);
    Value count = load(counters, counter);
    store(sums[0], counters, counter);
    sums[0] = arith::AddIOp::create(b, loc, sums[0], count);
    sums[1] = arith::MaxSIOp::create(b, loc, sums[1], count);
    return success();
  });
  auto choice = scf::IfOp::create(b, loc, TypeRange{i64}, ix().less(sums[1], size), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  Ix to = ix().sub(capacity, from);
  SmallVector<Value> none;
  (void)e.loop(0, size, 1, none, [&](const Ix &i) {
    SortRecord moved = at(ix().add(from, i));
    Ix counter = counterOf(moved.key, digit);
    Value place = load(counters, counter);
    store(ix().value(ix().add(place, 1)), counters, counter);
    set(moved, ix().add(to, place));
    return success();
  });
  scf::YieldOp::create(b, loc, ix().value(to));
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, ix().value(from));
  return choice.getResult(0);
}

} // namespace tw::target::cpu
