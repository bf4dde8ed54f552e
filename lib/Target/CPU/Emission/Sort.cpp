// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.sort, line by line. An element becomes a record (SortRecords.h), whose key is in the order
// that is asked for. The values are read again from where they lie, so that they keep their bits.
//
// Where only the first `count` are wanted, a line is taken in chunks: what is less than the last
// one kept so far is put behind them, and those are sorted.
#include "Target/CPU/Emission/SortRecords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

constexpr int64_t leastChunk = 64, chunkOfCount = 8; // a chunk has 8 times what is kept

class SortEmitter {
public:
  SortEmitter(Emitter &e, tile::SortOp op, const Step &step)
      : e(e), b(e.b), loc(e.loc), op(op), step(step), axis(int(op.getAxis())), i64(b.getI64Type()),
        extents(e.extents(op.getOperand())), length(extents[axis]),
        count(e.extents(op.getValues())[axis]) {
    element =
        Emitter::scalarType(cast<RankedTensorType>(op.getOperand().getType()).getElementType());
    bits = element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
  }

  LogicalResult emit() {
    FailureOr<Memory> place =
        e.asStridedMemory(op.getOperand(), std::get<StridedPlacement>(step.detail));
    if (failed(place))
      return failure();
    input = *place;
    Memory values = allocateResult(op.getValues()), positions = allocateResult(op.getPositions());
    records.emplace(e, bits, mostRecords());
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

  /// How many records there are at most.
  Size mostRecords() {
    Size all = extentsOf(op.getOperand())[axis], kept = extentsOf(op.getValues())[axis];
    if (!isPartial())
      return all;
    auto n = all.constant(), k = kept.constant();
    return n && k ? Size(*k + std::min(*n, std::max(*k * chunkOfCount, leastChunk))) : all + kept;
  }

  Value number(int64_t value) { return ix().value(value); }

  //===--- records ------------------------------------------------------------===//

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
  SortRecord recordsAt(const Point &point) {
    bool isVector = point.lane >= 0 && e.lanes > 1;
    Value value = e.read(input, point), key = keyOf(isVector ? e.asVector(value) : value);
    Value position = ix().value(point.at[axis]);
    Type wide = e.typeOf(i64, isVector);
    if (isVector)
      position = arith::AddIOp::create(b, loc, e.splat(position), e.laneOffsets(1));
    if (records->isWide())
      return {key, position};
    key = arith::ExtUIOp::create(b, loc, wide, key);
    key = arith::ShLIOp::create(b, loc, key, lanesOf(wide, APInt(64, 32)));
    return {arith::OrIOp::create(b, loc, key, position), {}};
  }

  //===--- lines --------------------------------------------------------------===//

  /// Makes and sorts the records of a line; gives where the first of them is.
  Ix sortedAll(const Point &line) {
    SmallVector<Value> none;
    (void)e.alongDimension(line, axis, 0, length, records->width(), none,
                           [&](const Point &at, auto &) {
                             SortRecord made = recordsAt(at);
                             records->set(made, at.at[axis], e.mask);
                             return success();
                           });
    return records->sorted(length);
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
      Ix from = records->sorted(taken), now = ix().min(count, taken);
      copy(from, now);
      Value last = records->keyAt(ix().sub(ix().max(now, 1), 1));
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
        line, axis, begin, end, records->width(), taken,
        [&](const Point &at, SmallVectorImpl<Value> &taken) {
          SortRecord made = recordsAt(at);
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
  void takeLanes(const SortRecord &made, Value wanted, unsigned lanes,
                 SmallVectorImpl<Value> &taken) {
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
      return lanes == 1 ? value : vector::ExtractOp::create(b, loc, value, lane).getResult();
    };
    for (unsigned lane = 0; lane < lanes; ++lane) {
      // Always written: what is not wanted is overwritten by the next one.
      records->set(
          {laneOf(made.key, lane), records->isWide() ? laneOf(made.position, lane) : Value()},
          next);
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
      records->set(records->at(ix().add(from, i)), i);
      return success();
    });
  }

  void writeLine(const Point &line, const Ix &from, const Memory &values, const Memory &positions) {
    SmallVector<Value> none;
    (void)e.loop(0, ix().min(count, length), 1, none, [&](const Ix &i) {
      Point to = line, source = line;
      to.at[axis] = i;
      Value position = records->positionAt(ix().add(from, i));
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

  Emitter &e;
  OpBuilder &b;
  Location loc;
  tile::SortOp op;
  const Step &step;
  int axis;
  Type i64, element;
  unsigned bits;
  Indices extents;
  Ix length, count;
  Memory input;
  std::optional<SortRecords> records;
};

} // namespace

LogicalResult Emitter::sort(tile::SortOp op, const Step &step) {
  return SortEmitter(*this, op, step).emit();
}

} // namespace tw::target::cpu
