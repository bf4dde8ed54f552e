// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.reduce. One row is reduced by all threads, each of which has the groups of the row that are
// dealt to it; all of them know the result then. So are several rows that a program goes through
// together. Otherwise each element of the result is reduced by
// one thread, or, where there are fewer of them than threads, in parts by several. The threads of a
// warp combine what they have by exchanging it; partial results that are left are combined in
// order.
#include "Target/Common/Operations/Combine.h"
#include "Target/Common/Operations/Elementwise.h"
#include "Target/NVIDIA/Emission/Emitter.h"
#include "Target/NVIDIA/Emission/Lanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using tw::tile::ReduceKind;

namespace tw::target::nvidia {
namespace {

/// What is carried from element to element: the value; for argmax and argmin also its position, -1
/// before the first one; for other maxima and minima of f64 also whether there was a NaN, which
/// those of f32 propagate in one instruction.
class Reducer {
public:
  /// `isTree`: values are combined in a tree of few levels, which f32 is precise enough for.
  Reducer(Emitter &e, tile::ReduceOp op, bool isTree)
      : e(e), b(e.b), loc(e.loc), kind(op.getKind()),
        element(scalarType(op.getOperand().getType().getElementType())) {
    isFloat = isa<FloatType>(element);
    isPosition = kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin;
    isExtreme = isFloat && (kind == ReduceKind::Max || kind == ReduceKind::Min);
    bool isSum = isFloat && (kind == ReduceKind::Sum || kind == ReduceKind::Prod);
    bool isHalf = element.isF16() || element.isBF16();
    // Long sums of f32 are in f64, which loses nothing.
    bool isWide = isSum && !(isTree && kind == ReduceKind::Sum && !element.isF64());
    state = isWide ? Type(b.getF64Type()) : isHalf ? Type(b.getF32Type()) : element;
    tracksNan = isExtreme && state.isF64();
    types.push_back(state);
    if (isPosition)
      types.push_back(b.getI64Type());
    else if (tracksNan)
      types.push_back(b.getI1Type());
  }

  void initial(SmallVectorImpl<Value> &carried) {
    carried.assign({reduceIdentity(b, loc, kind, state)});
    if (types.size() > 1)
      carried.push_back(e.constant(types[1], isPosition ? -1 : 0));
  }

  void accumulate(Value value, const Ix &at, SmallVectorImpl<Value> &carried) {
    if (isFloat)
      value = convertFloat(b, loc, value, state);
    SmallVector<Value> one{value};
    if (isPosition)
      one.push_back(e.ix().value(at));
    else if (tracksNan)
      one.push_back(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value));
    join(carried, one);
  }

  /// The same of neighbours, whose sum is short enough for f32.
  void accumulate(SmallVector<Value> values, ArrayRef<Point> points,
                  SmallVectorImpl<Value> &carried) {
    if (isFloat && kind == ReduceKind::Sum && !element.isF64() && values.size() > 1) {
      for (Value &value : values)
        value = convertFloat(b, loc, value, b.getF32Type());
      for (; values.size() > 1; values.truncate(values.size() / 2))
        for (uint64_t i = 0, half = values.size() / 2; i < half; ++i)
          values[i] = arith::AddFOp::create(b, loc, values[i], values[i + half]);
    }
    for (auto [i, value] : llvm::enumerate(values))
      accumulate(value, points[i].back(), carried);
  }

  /// `other` comes from elements of which none was before one of `carried`, or was but is no
  /// better.
  void join(SmallVectorImpl<Value> &carried, ArrayRef<Value> other) {
    if (isPosition)
      return joinPositions(carried, other);
    carried[0] = step(carried[0], other[0]);
    if (tracksNan)
      carried[1] = arith::OrIOp::create(b, loc, carried[1], other[1]);
  }

  Value finish(ArrayRef<Value> carried) {
    if (isPosition) // nothing at all gives 0
      return arith::MaxSIOp::create(b, loc, carried[1], e.constant(b.getI64Type(), 0));
    Value value = carried[0];
    if (tracksNan) {
      Value nan = e.constant(state, std::numeric_limits<double>::quiet_NaN());
      value = arith::SelectOp::create(b, loc, carried[1], nan, value);
    }
    return isFloat ? convertFloat(b, loc, value, element) : value;
  }

  SmallVector<Type> types; // of what is carried

private:
  Value step(Value x, Value y) {
    if (!isExtreme || tracksNan)
      return emitReduceStep(b, loc, kind, x, y);
    return kind == ReduceKind::Max ? Value(arith::MaximumFOp::create(b, loc, x, y))
                                   : Value(arith::MinimumFOp::create(b, loc, x, y));
  }

  /// Takes the other one if it is better, or as good and earlier. NaN is better than all numbers.
  void joinPositions(SmallVectorImpl<Value> &carried, ArrayRef<Value> other) {
    Value x = other[0], y = carried[0];
    bool isMax = kind == ReduceKind::ArgMax;
    Value better, same;
    if (isFloat) {
      auto compare = [&](arith::CmpFPredicate predicate, Value p, Value q) -> Value {
        return arith::CmpFOp::create(b, loc, predicate, p, q);
      };
      Value beats = compare(isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, x, y);
      better = e.both(beats, compare(arith::CmpFPredicate::ORD, y, y));
      Value areNan = e.both(compare(arith::CmpFPredicate::UNO, x, x),
                            compare(arith::CmpFPredicate::UNO, y, y));
      same = arith::OrIOp::create(b, loc, compare(arith::CmpFPredicate::OEQ, x, y), areNan);
    } else {
      better = arith::CmpIOp::create(
          b, loc, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, y);
      same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
    }
    // As unsigned numbers: nothing, which is -1, comes last.
    Value isEarlier =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, other[1], carried[1]);
    Value takes = arith::OrIOp::create(b, loc, better, e.both(same, isEarlier));
    for (auto [mine, its] : llvm::zip(carried, other))
      mine = arith::SelectOp::create(b, loc, takes, its, mine);
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  ReduceKind kind;
  Type element, state;
  bool isFloat, isPosition, isExtreme, tracksNan;
};

class ReduceEmitter {
  /// Of all warps, that one thread combines alone.
  static constexpr int64_t mostPartsOfThread = 8;

public:
  ReduceEmitter(Emitter &e, tile::ReduceOp op)
      : e(e), op(op), axis(op.getAxis()), extents(e.extents(op.getOperand())),
        reducer(e, op, e.isRowReduction(op) && e.isHeld(op.getOperand().getType())) {}

  LogicalResult run() {
    if (e.isRowReduction(op))
      return rows();
    Scratch scratch = e.scratchFor(op.getResult());
    int64_t parts = partCount();
    Indices results = extents;
    results.erase(results.begin() + axis);
    LogicalResult done = parts > 1 ? inParts(scratch, results, parts) : whole(scratch, results);
    e.barrier();
    e.materialized[op.getResult()] = scratch;
    return done;
  }

private:
  /// What is carried of each row, by its number.
  using OfRows = SmallVector<SmallVector<Value>>;

  OfRows split(ArrayRef<Value> flat) const {
    OfRows rows;
    for (; !flat.empty(); flat = flat.drop_front(reducer.types.size()))
      rows.emplace_back(flat.take_front(reducer.types.size()));
    return rows;
  }

  static SmallVector<Value> flat(const OfRows &rows) {
    SmallVector<Value> all;
    for (const SmallVector<Value> &row : rows)
      all.append(row);
    return all;
  }

  LogicalResult accumulate(const Group &group, SmallVectorImpl<Value> &carried) {
    FailureOr<SmallVector<Value>> values = e.evaluate(op.getOperand(), group);
    if (failed(values))
      return failure();
    SmallVector<Value> before(carried.begin(), carried.end());
    reducer.accumulate(*values, group.points, carried);
    for (auto [now, old] : llvm::zip(carried, before))
      if (group.isInside)
        now = arith::SelectOp::create(e.b, e.loc, group.isInside, now, old);
    return success();
  }

  LogicalResult rows() {
    OfRows all(size_t(e.rowsOf(extents)), {});
    for (SmallVector<Value> &carried : all)
      reducer.initial(carried);
    SmallVector<Value> carried = flat(all);
    auto body = [&](ArrayRef<Group> groups) -> LogicalResult {
      OfRows now = split(carried);
      for (auto [group, row] : llvm::zip(groups, now))
        if (failed(accumulate(group, row)))
          return failure();
      carried = flat(now);
      return success();
    };
    if (failed(e.overRows(extents, carried, body)))
      return failure();
    all = split(carried);
    for (SmallVector<Value> &row : all)
      joinLanes(row);
    if (e.threads > lanesOfWarp)
      joinWarps(all);
    SmallVector<Value> results;
    for (const SmallVector<Value> &row : all)
      results.push_back(reducer.finish(row));
    e.setElementsOfRows(op.getResult(), results);
    return success();
  }

  /// After it, all threads have what all warps had.
  void joinWarps(OfRows &rows) {
    int64_t warps = e.threads / lanesOfWarp;
    SmallVector<SmallVector<Scratch>> partial(rows.size());
    for (SmallVector<Scratch> &ofRow : partial)
      for (Type type : reducer.types)
        ofRow.push_back(e.allocate({Size(warps)}, type));
    {
      OpBuilder::InsertionGuard guard(e.b);
      Value isFirst = e.ix().less(e.ix().rem(e.thread, lanesOfWarp), 1);
      e.b.setInsertionPointToStart(scf::IfOp::create(e.b, e.loc, isFirst, false).thenBlock());
      for (auto [ofRow, row] : llvm::zip(partial, rows))
        for (auto [own, value] : llvm::zip(ofRow, row))
          e.write(own, {e.ix().div(e.thread, lanesOfWarp)}, value);
    }
    e.barrier();
    for (auto [ofRow, row] : llvm::zip(partial, rows))
      takeFromWarps(ofRow, warps, row);
  }

  void takeFromWarps(ArrayRef<Scratch> partial, int64_t warps, SmallVectorImpl<Value> &carried) {
    if (warps > mostPartsOfThread)
      return takeByLanes(partial, warps, carried);
    SmallVector<SmallVector<Value>> parts(size_t(warps), {});
    for (const Scratch &own : partial)
      for (auto [part, value] : llvm::zip(parts, e.loadFrom(own.base, own.element, 0, warps)))
        part.push_back(value);
    for (size_t count = parts.size(); count > 1; count = (count + 1) / 2)
      for (size_t i = 0; i + (count + 1) / 2 < count; ++i)
        reducer.join(parts[i], parts[i + (count + 1) / 2]);
    carried.assign(parts[0].begin(), parts[0].end());
  }

  /// Each lane of a warp takes what one warp has, and all exchange it: of many warps that is less
  /// for each.
  void takeByLanes(ArrayRef<Scratch> partial, int64_t warps, SmallVectorImpl<Value> &carried) {
    Ix lane = e.ix().rem(e.thread, lanesOfWarp);
    reducer.initial(carried);
    Value has = warps < lanesOfWarp ? e.ix().less(lane, warps) : Value();
    for (auto [own, value] : llvm::zip(partial, carried)) {
      Value taken = e.read(own, {e.ix().min(lane, warps - 1)});
      value = has ? Value(arith::SelectOp::create(e.b, e.loc, has, taken, value)) : taken;
    }
    joinLanes(carried);
  }

  /// How many threads work on one result.
  int64_t partCount() {
    int64_t results = 1;
    for (auto [d, extent] : llvm::enumerate(extents))
      if (int64_t(d) != axis)
        results *= extent.estimate(e.threads);
    int64_t length = extents[axis].estimate(e.threads), parts = 1;
    while (parts * 2 * results <= e.threads && parts * 2 <= length)
      parts *= 2;
    return parts;
  }

  /// Reduces the elements first, first + step, ...
  LogicalResult accumulate(const Point &result, const Ix &first, int64_t step,
                           SmallVectorImpl<Value> &carried) {
    reducer.initial(carried);
    Point point = result;
    point.insert(point.begin() + axis, Ix(0));
    return e.loop(first, extents[axis], step, carried, [&](const Ix &at) -> LogicalResult {
      point[axis] = at;
      FailureOr<Value> value = e.evaluate(op.getOperand(), point);
      if (succeeded(value))
        reducer.accumulate(*value, at, carried);
      return success(succeeded(value));
    });
  }

  LogicalResult whole(const Scratch &scratch, ArrayRef<Ix> results) {
    return e.overPoints(results, [&](const Point &result) -> LogicalResult {
      SmallVector<Value> carried;
      if (failed(accumulate(result, 0, 1, carried)))
        return failure();
      e.write(scratch, result, reducer.finish(carried));
      return success();
    });
  }

  /// After it, each thread of a warp has what all of them had.
  void joinLanes(SmallVectorImpl<Value> &carried) {
    for (int64_t lanes = lanesOfWarp / 2; lanes > 0; lanes /= 2) {
      SmallVector<Value> other;
      for (Value value : carried)
        other.push_back(fromLane(e.b, e.loc, value, lanes));
      reducer.join(carried, other);
    }
  }

  /// `parts` is a power of two. From 32 on all parts of a warp are of one result: then it has one
  /// partial result, and is one itself if there are no other warps.
  LogicalResult inParts(const Scratch &scratch, ArrayRef<Ix> results, int64_t parts) {
    int64_t lanes = parts >= lanesOfWarp ? lanesOfWarp : 1, left = parts / lanes;
    std::vector<Size> sizes = tile::extentsOf(cast<RankedTensorType>(op.getResult().getType()));
    sizes.push_back(left);
    SmallVector<Scratch> partial;
    for (Type type : reducer.types)
      if (left > 1)
        partial.push_back(e.allocate(sizes, type));
    Indices both(results);
    both.push_back(parts);
    LogicalResult done = e.overPoints(both, [&](const Point &point) -> LogicalResult {
      SmallVector<Value> carried;
      Point result(point.begin(), std::prev(point.end()));
      if (failed(accumulate(result, point.back(), parts, carried)))
        return failure();
      Point at = point;
      OpBuilder::InsertionGuard guard(e.b);
      if (lanes > 1) {
        joinLanes(carried);
        at.back() = e.ix().div(point.back(), lanes);
        Value isFirst = e.ix().less(e.ix().rem(point.back(), lanes), 1);
        e.b.setInsertionPointToStart(scf::IfOp::create(e.b, e.loc, isFirst, false).thenBlock());
      }
      if (left == 1)
        e.write(scratch, result, reducer.finish(carried));
      else
        for (auto [own, value] : llvm::zip(partial, carried))
          e.write(own, at, value);
      return success();
    });
    if (left == 1 || failed(done))
      return done;
    e.barrier();
    return e.overPoints(results, [&](const Point &result) -> LogicalResult {
      SmallVector<Value> carried;
      reducer.initial(carried);
      Point point = result;
      point.push_back(0);
      auto one = [&](const Ix &part) {
        point.back() = part;
        SmallVector<Value> other;
        for (const Scratch &own : partial)
          other.push_back(e.read(own, point));
        reducer.join(carried, other);
        return success();
      };
      if (failed(e.loop(0, left, 1, carried, one)))
        return failure();
      e.write(scratch, result, reducer.finish(carried));
      return success();
    });
  }

  Emitter &e;
  tile::ReduceOp op;
  int64_t axis;
  Indices extents;
  Reducer reducer;
};

} // namespace

bool Emitter::isRowReduction(tile::ReduceOp op) const {
  auto type = op.getOperand().getType();
  int64_t rows = 1;
  for (int64_t size : type.getShape().drop_back())
    rows *= std::max<int64_t>(size, 0); // 0: not known
  return int64_t(op.getAxis()) == type.getRank() - 1 && (rows == 1 || rows == rowsTogether);
}

LogicalResult Emitter::reduce(tile::ReduceOp op) { return ReduceEmitter(*this, op).run(); }

} // namespace tw::target::nvidia
