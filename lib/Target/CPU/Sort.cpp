// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.sort, line by line. An element becomes a key, an unsigned integer in the order that is asked
// for, with its position: (key << 32 | position) where 32 bits hold the key, else two numbers
// beside each other. Up to 128 of them are sorted by rank (how many are less than each, in
// vectors), more by a radix sort of bytes, from the lowest one: both are stable, and no branch of
// theirs depends on the data. The values are read again from where they lie, so that they keep
// their bits.
//
// Where only the first `count` are wanted, a line is taken in chunks: what is less than the last
// one kept so far is put behind them, and those are sorted.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

constexpr int64_t mostByRank = 128;
constexpr int64_t leastChunk = 64, chunkOfCount = 8; // a chunk has 8 times what is kept
constexpr int64_t digitBits = 8, digitValues = 1 << digitBits;

/// A key with its position; of narrow keys the first holds both.
struct Record {
  Value key, position;
};

class SortEmitter {
public:
  SortEmitter(Emitter &e, tile::SortOp op, const Step &step)
      : e(e), b(e.b), loc(e.loc), op(op), step(step), axis(int(op.getAxis())), i64(b.getI64Type()),
        extents(e.extents(op.getOperand())), length(extents[axis]),
        count(e.extents(op.getValues())[axis]) {
    element =
        Emitter::scalarType(cast<RankedTensorType>(op.getOperand().getType()).getElementType());
    bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
    isWide = bits > 32;
    width = std::max<unsigned>(e.cpu.vectorBytes / 8, 1);
  }

  LogicalResult emit() {
    FailureOr<Memory> place =
        e.asStridedMemory(op.getOperand(), std::get<StridedPlacement>(step.detail));
    if (failed(place))
      return failure();
    input = *place;
    Memory values = allocateResult(op.getValues()), positions = allocateResult(op.getPositions());
    allocateRecords();
    Indices lines = extents;
    lines[axis] = 1;
    Emitter::Scope scope(e);
    LogicalResult done = e.overElements(lines, {}, [&](const Point &line) {
      Ix from = isPartial() ? sortedChunks(line) : sortedAll(line);
      writeLine(line, from, values, positions);
      return success();
    });
    scope.memory[op.getValues()] = values;
    scope.memory[op.getPositions()] = positions;
    return done;
  }

private:
  IndexBuilder ix() { return {b, loc}; }
  static std::vector<Size> extentsOf(Value tile) {
    return tile::extentsOf(cast<RankedTensorType>(tile.getType()));
  }
  /// Whether fewer are wanted than there are.
  bool isPartial() {
    return !(extentsOf(op.getValues())[axis] == extentsOf(op.getOperand())[axis]);
  }

  Memory allocateResult(Value tile) {
    if (tile.use_empty())
      return {};
    return e.allocate(extentsOf(tile), cast<RankedTensorType>(tile.getType()).getElementType());
  }

  /// Two halves, between which records go to and fro.
  void allocateRecords() {
    Size all = extentsOf(op.getOperand())[axis], kept = extentsOf(op.getValues())[axis];
    Size half = all;
    if (isPartial()) {
      auto n = all.constant(), k = kept.constant();
      half = n && k ? Size(*k + std::min(*n, std::max(*k * chunkOfCount, leastChunk))) : all + kept;
    }
    capacity = e.size(half);
    keys = e.allocate({Size(2), half}, i64).base;
    if (isWide)
      places = e.allocate({Size(2), half}, i64).base;
    if (auto known = half.constant(); !known || *known > mostByRank)
      counters = e.allocate({Size(bits / digitBits), Size(digitValues)}, i64).base;
    ranks = e.allocate({Size(mostByRank)}, i64).base;
  }

  //===--- records ------------------------------------------------------------===//

  Value load(Value base, const Ix &index) { return e.loadFrom(base, i64, index, false, 1, {}, {}); }
  void store(Value value, Value base, const Ix &index) {
    e.storeTo(value, base, i64, index, 1, {});
  }
  Value number(int64_t value) { return ix().value(value); }

  Record record(const Ix &index) {
    return {load(keys, index), isWide ? load(places, index) : Value()};
  }
  void setRecord(const Record &record, const Ix &index) {
    store(record.key, keys, index);
    if (isWide)
      store(record.position, places, index);
  }
  Value positionOf(const Ix &index) {
    if (isWide)
      return load(places, index);
    return arith::AndIOp::create(b, loc, load(keys, index), number(0xffffffff));
  }

  /// A constant for each lane, of the keys' width.
  Value lanesOf(Type type, const APInt &value) {
    auto integer = cast<IntegerType>(getElementTypeOrSelf(type));
    TypedAttr attribute = IntegerAttr::get(integer, value);
    if (auto vector = dyn_cast<ShapedType>(type))
      attribute = DenseElementsAttr::get(vector, value);
    return arith::ConstantOp::create(b, loc, attribute);
  }

  /// An unsigned integer for each element, in the order in which they are to stand.
  Value keyOf(Value value) {
    Type integer = b.getIntegerType(bits);
    Type type = isa<VectorType>(value.getType()) ? e.typeOf(integer, true) : integer;
    auto constant = [&](const APInt &number) { return lanesOf(type, number); };
    APInt sign = APInt::getSignMask(bits), all = APInt::getAllOnes(bits);
    Value key;
    if (auto real = dyn_cast<FloatType>(element)) {
      Value raw = arith::BitcastOp::create(b, loc, type, value);
      APInt infinity = APFloat::getInf(real.getFloatSemantics()).bitcastToAPInt();
      Value magnitude = arith::AndIOp::create(b, loc, raw, constant(~sign));
      Value isNan =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, magnitude, constant(infinity));
      Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, magnitude,
                                           constant(APInt::getZero(bits)));
      // Negative numbers go down: all their bits change, of others the sign.
      Value negative = arith::ShRSIOp::create(b, loc, raw, constant(APInt(bits, bits - 1)));
      Value flip = arith::OrIOp::create(b, loc, negative, constant(sign));
      key = arith::XOrIOp::create(b, loc, raw, flip);
      key = arith::SelectOp::create(b, loc, isZero, constant(sign), key);
      key = arith::SelectOp::create(b, loc, isNan, constant(all), key);
    } else if (element.isInteger(1)) {
      key = arith::ExtUIOp::create(b, loc, type, value);
    } else {
      key =
          op.getIsUnsigned() ? value : Value(arith::XOrIOp::create(b, loc, value, constant(sign)));
    }
    return op.getDescending() ? Value(arith::XOrIOp::create(b, loc, key, constant(all))) : key;
  }

  /// The records of a strip of the line; called where lanes are set.
  Record recordsAt(const Point &point) {
    bool isVector = point.lane >= 0 && e.lanes > 1;
    Value value = e.read(input, point), key = keyOf(isVector ? e.asVector(value) : value);
    Value position = ix().value(point.at[axis]);
    Type wide = e.typeOf(i64, isVector);
    if (isVector)
      position = arith::AddIOp::create(b, loc, e.splat(position), e.laneOffsets(1));
    if (isWide)
      return {key, position};
    key = arith::ExtUIOp::create(b, loc, wide, key);
    key = arith::ShLIOp::create(b, loc, key, lanesOf(wide, APInt(64, 32)));
    return {arith::OrIOp::create(b, loc, key, position), {}};
  }

  //===--- lines --------------------------------------------------------------===//

  /// Makes and sorts the records of a line; gives where the first of them is.
  Ix sortedAll(const Point &line) {
    SmallVector<Value> none;
    (void)e.alongDimension(line, axis, 0, length, width, none, [&](const Point &at, auto &) {
      Record made = recordsAt(at);
      e.storeTo(made.key, keys, i64, at.at[axis], 1, e.mask);
      if (isWide)
        e.storeTo(made.position, places, i64, at.at[axis], 1, e.mask);
      return success();
    });
    return sorted(length);
  }

  /// The same for the first `count`, which are at 0 then.
  Ix sortedChunks(const Point &line) {
    Ix chunk = ix().max(ix().mul(count, chunkOfCount), leastChunk);
    Value all = number(-1);
    SmallVector<Value> state = {number(0), all}; // how many are kept, the key of the last one
    (void)e.loop(0, ix().ceilDiv(length, chunk), 1, state, [&](const Ix &trip) {
      Ix begin = ix().mul(trip, chunk), end = ix().min(length, ix().add(begin, chunk));
      Ix kept = state[0];
      Ix taken = takeLess(line, begin, end, kept, state[1]);
      auto choice = scf::IfOp::create(b, loc, TypeRange{i64, i64}, ix().less(kept, taken), true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(choice.thenBlock());
      Ix from = sorted(taken), now = ix().min(count, taken);
      copy(from, now);
      Value last = load(keys, ix().sub(ix().max(now, 1), 1));
      scf::YieldOp::create(b, loc, ValueRange{ix().value(now), last});
      b.setInsertionPointToStart(choice.elseBlock());
      scf::YieldOp::create(b, loc, state);
      state.assign(choice.getResults().begin(), choice.getResults().end());
      return success();
    });
    return 0;
  }

  /// Puts the elements [begin, end) that are less than `last`, or all while fewer than `count` are
  /// kept, behind the `kept` first ones; gives how many there are then.
  Ix takeLess(const Point &line, const Ix &begin, const Ix &end, const Ix &kept, Value last) {
    Value isFree = ix().less(kept, count);
    SmallVector<Value> taken = {ix().value(kept)};
    (void)e.alongDimension(
        line, axis, begin, end, width, taken, [&](const Point &at, SmallVectorImpl<Value> &taken) {
          Record made = recordsAt(at);
          bool isVector = at.lane >= 0 && e.lanes > 1;
          auto same = [&](Value scalar) { return isVector ? e.splat(scalar) : scalar; };
          Value wanted =
              arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, made.key, same(last));
          wanted = arith::OrIOp::create(b, loc, wanted, same(isFree));
          wanted = e.both(wanted, e.mask);
          takeLanes(made, wanted, isVector ? e.lanes : 1, taken);
          return success();
        });
    return taken[0];
  }

  /// Appends the records of the lanes that are wanted, if there are any.
  void takeLanes(const Record &made, Value wanted, unsigned lanes, SmallVectorImpl<Value> &taken) {
    Value any = wanted;
    if (lanes > 1) {
      Type type = b.getIntegerType(lanes);
      Value mask = LLVM::BitcastOp::create(b, loc, type, wanted);
      any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, mask,
                                  arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 0)));
    }
    auto choice = scf::IfOp::create(b, loc, TypeRange{i64}, any, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    Value next = taken[0];
    auto laneOf = [&](Value value, unsigned lane) -> Value {
      return lanes == 1 ? value
                        : LLVM::ExtractElementOp::create(b, loc, value, number(lane)).getResult();
    };
    for (unsigned lane = 0; lane < lanes; ++lane) {
      // Always written: what is not wanted is overwritten by the next one.
      setRecord({laneOf(made.key, lane), isWide ? laneOf(made.position, lane) : Value()}, next);
      Value one = arith::ExtUIOp::create(b, loc, i64, laneOf(wanted, lane));
      next = arith::AddIOp::create(b, loc, next, one);
    }
    scf::YieldOp::create(b, loc, next);
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, taken[0]);
    taken[0] = choice.getResult(0);
  }

  /// Moves `size` records from `from` to the front.
  void copy(const Ix &from, const Ix &size) {
    SmallVector<Value> none;
    (void)e.loop(0, size, 1, none, [&](const Ix &i) {
      setRecord(record(ix().add(from, i)), i);
      return success();
    });
  }

  void writeLine(const Point &line, const Ix &from, const Memory &values, const Memory &positions) {
    SmallVector<Value> none;
    (void)e.loop(0, ix().min(count, length), 1, none, [&](const Ix &i) {
      Point to = line, source = line;
      to.at[axis] = i;
      Value position = positionOf(ix().add(from, i));
      source.at[axis] = position;
      if (values.base)
        e.write(values, to, e.read(input, source));
      if (positions.base)
        e.write(positions, to, position);
      return success();
    });
    if (!isPartial() || (count.isConstant() && length.isConstant()))
      return;
    (void)e.loop(length, count, 1, none, [&](const Ix &i) { // of results that are too long
      Point to = line;
      to.at[axis] = i;
      if (values.base)
        e.write(values, to, e.constant(element, 0));
      if (positions.base)
        e.write(positions, to, number(0));
      return success();
    });
  }

  //===--- sorting ------------------------------------------------------------===//

  /// Sorts the first `size` records; gives where they are then: at 0, or in the second half.
  Ix sorted(const Ix &size) {
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

  /// Each record goes where as many stand before it as are less than it. Equal keys stand in the
  /// order of their positions before.
  Ix byRank(const Ix &size) {
    SmallVector<Value> none;
    Point point{{Ix(0)}, -1, 1};
    (void)e.alongDimension(point, 0, 0, size, width, none, [&](const Point &at, auto &) {
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
    (void)e.loop(0, size, 1, none, [&](const Ix &i) {
      setRecord(record(i), ix().add(capacity, load(ranks, i)));
      return success();
    });
    return capacity;
  }

  /// Whether record `other` comes before the records `own`, whose numbers are `number`.
  Value isBefore(const Ix &other, Value own, Value number, bool isVector) {
    auto same = [&](Value scalar) { return isVector ? e.splat(scalar) : scalar; };
    auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
      return arith::CmpIOp::create(b, loc, predicate, x, y);
    };
    Value key = same(load(keys, other));
    Value isLess = compare(arith::CmpIPredicate::ult, key, own);
    if (!isWide)
      return isLess;
    Value isEqual = compare(arith::CmpIPredicate::eq, key, own);
    Value isEarlier = compare(arith::CmpIPredicate::slt, same(ix().value(other)), number);
    return arith::OrIOp::create(b, loc, isLess, arith::AndIOp::create(b, loc, isEqual, isEarlier));
  }

  int64_t digits() const { return bits / digitBits; }

  /// Which counter of a digit a key belongs to.
  Ix counterOf(Value key, int64_t digit) {
    int64_t shift = digit * digitBits + (isWide ? 0 : 32);
    Value shifted = shift ? Value(arith::ShRUIOp::create(b, loc, key, number(shift))) : key;
    Value value = arith::AndIOp::create(b, loc, shifted, number(digitValues - 1));
    return ix().add(digit * digitValues, value);
  }

  Ix byDigits(const Ix &size) {
    SmallVector<Value> none;
    SmallVector<Value> zeros;
    Point point{{Ix(0)}, -1, 1};
    (void)e.alongDimension(point, 0, 0, digits() * digitValues, width, none,
                           [&](const Point &at, auto &) {
                             bool isVector = at.lane >= 0 && e.lanes > 1;
                             Value zero = e.constant(i64, 0);
                             e.storeTo(isVector ? e.splat(zero) : zero, counters, i64, at.at[0], 1,
                                       isVector ? e.mask : Value());
                             return success();
                           });
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
  Ix byDigit(const Ix &size, const Ix &from, int64_t digit) {
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
      Record moved = record(ix().add(from, i));
      Ix counter = counterOf(moved.key, digit);
      Value place = load(counters, counter);
      store(ix().value(ix().add(place, 1)), counters, counter);
      setRecord(moved, ix().add(to, place));
      return success();
    });
    scf::YieldOp::create(b, loc, ix().value(to));
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, ix().value(from));
    return choice.getResult(0);
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  tile::SortOp op;
  const Step &step;
  int axis;
  Type i64, element;
  unsigned bits, width;
  bool isWide;
  Indices extents;
  Ix length, count, capacity = 0; // capacity: of a half
  Memory input;
  Value keys, places, counters, ranks;
};

} // namespace

LogicalResult Emitter::sort(tile::SortOp op, const Step &step) {
  return SortEmitter(*this, op, step).emit();
}

} // namespace tw::target::cpu
