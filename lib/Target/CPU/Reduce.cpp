// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.reduce. Along the lanes several vectors are carried, so that the processor need not wait for
// one sum before the next, and the error stays that of short sums.
#include "Target/CPU/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <limits>

using namespace mlir;
using tw::tile::ReduceKind;

namespace tw::target::cpu {
namespace {

constexpr unsigned parallelSums = 4;

class ReduceEmitter {
public:
  ReduceEmitter(Emitter &e, tile::ReduceOp op, const Step &step)
      : e(e), b(e.b), loc(e.loc), op(op), step(step), plan(std::get<ReduceStep>(step.detail)),
        kind(op.getKind()),
        element(Emitter::scalarType(op.getOperand().getType().getElementType())),
        axis(op.getAxis()), extents(e.extents(op.getOperand())) {
    bool isHalf = element.isF16() || element.isBF16();
    state = isHalf ? Type(b.getF32Type()) : element;
    isFloat = isa<FloatType>(element);
    tracksNan = isFloat && (kind == ReduceKind::Max || kind == ReduceKind::Min);
    isPosition = kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin;
  }

  LogicalResult run() {
    if (failed(e.place(step.before)))
      return failure();
    if (plan.keep == ReduceStep::Keep::Output)
      kept = e.storedAt(plan.output);
    else if (plan.keep == ReduceStep::Keep::Scratch)
      kept = roomFor(op.getOperand());
    return plan.inRegister ? single() : many();
  }

private:
  Memory roomFor(Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    return e.allocate(tw::tile::extentsOf(type), type.getElementType());
  }

  /// Rows of the result as long as whole vectors.
  Memory wideRoom() {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    std::vector<Size> extents = tw::tile::extentsOf(type);
    extents.back() = Size(int64_t(llvm::alignTo(type.getShape().back(), plan.results.lanes)));
    return e.allocate(extents, type.getElementType());
  }

  LogicalResult single() {
    FailureOr<Value> value = failure();
    {
      Emitter::Scope scope(e);
      Point point{Indices(extents.size(), Ix(0)), -1, 1};
      value = elementAt(point);
    }
    if (failed(value))
      return failure();
    finishKept();
    e.registers[op.getResult()] = {1, {*value}};
    return success();
  }

  LogicalResult many() {
    bool isWide = plan.hasWholeRows;
    Memory room = isWide ? wideRoom() : roomFor(op.getResult());
    Indices outer = extents;
    outer.erase(outer.begin() + axis);
    {
      Emitter::Scope scope(e);
      auto body = [&](const Point &at) -> LogicalResult {
        Point point{at.at, at.lane, 1};
        point.at.insert(point.at.begin() + axis, Ix(0));
        if (point.lane >= axis)
          ++point.lane;
        FailureOr<Value> value = elementAt(point);
        if (failed(value))
          return failure();
        llvm::SaveAndRestore whole(e.mask, isWide ? Value() : e.mask);
        e.write(room, at, *value);
        return success();
      };
      if (failed(e.overElements(outer, plan.results, body)))
        return failure();
    }
    finishKept();
    e.memory[op.getResult()] = room;
    return success();
  }

  void finishKept() {
    if (kept)
      e.memory[op.getOperand()] = *kept;
  }

  /// The result at `point` (its coordinate along the axis does not matter), rounded.
  FailureOr<Value> elementAt(Point point) {
    SmallVector<Value> carried;
    alongLanes = step.strips.lane == axis && step.strips.lanes > 1;
    unsigned width = alongLanes ? step.strips.lanes : 1;
    Ix extent = extents[axis], start = 0;
    if (!alongLanes) {
      initial(carried, e.lanes);
      auto one = [&](const Ix &at) {
        point.at[axis] = at;
        return accumulate(point, carried);
      };
      for (int64_t at = 0; plan.isUnrolled && at < *extent.constant(); ++at)
        if (failed(one(at)))
          return failure();
      if (!plan.isUnrolled && failed(e.loop(0, extent, 1, carried, one)))
        return failure();
      return finish(carried);
    }
    auto known = extent.constant();
    if (!known || *known >= int64_t(width) * parallelSums) {
      start = e.ix().mul(e.ix().div(extent, width * parallelSums), width * parallelSums);
      if (failed(inParallel(point, width, start, carried)))
        return failure();
    } else {
      initial(carried, width);
    }
    if (failed(e.alongDimension(point, axis, start, extent, width, carried,
                                [&](const Point &at, SmallVectorImpl<Value> &values) {
                                  return accumulate(at, values);
                                })))
      return failure();
    return finish(carried);
  }

  /// Several vectors at a time up to `end`; what they hold is joined in `carried`.
  LogicalResult inParallel(Point point, unsigned width, const Ix &end,
                           SmallVectorImpl<Value> &carried) {
    SmallVector<Value> all;
    for (unsigned i = 0; i < parallelSums; ++i)
      initial(all, width);
    unsigned each = all.size() / parallelSums;
    llvm::SaveAndRestore lanes(e.lanes, width);
    llvm::SaveAndRestore mask(e.mask, Value());
    point.lane = axis;
    auto step = [&](const Ix &at) -> LogicalResult {
      for (unsigned i = 0; i < parallelSums; ++i) {
        point.at[axis] = e.ix().add(at, int64_t(i) * width);
        SmallVector<Value> part(ArrayRef(all).slice(i * each, each));
        if (failed(accumulate(point, part)))
          return failure();
        llvm::copy(part, all.begin() + i * each);
      }
      return success();
    };
    if (failed(e.loop(0, end, int64_t(width) * parallelSums, all, step)))
      return failure();
    carried.assign(all.begin(), all.begin() + each);
    for (unsigned i = 1; i < parallelSums; ++i) {
      if (isPosition) {
        joinPositions(carried, ArrayRef(all).slice(i * each, each));
        continue;
      }
      carried[0] = combine(carried[0], all[i * each]);
      if (tracksNan)
        carried[1] = arith::OrIOp::create(b, loc, carried[1], all[i * each + 1]);
    }
    return success();
  }

  //===--- one step --------------------------------------------------------===//

  double identity() const {
    bool isMax = kind == ReduceKind::Max || kind == ReduceKind::ArgMax;
    if (kind == ReduceKind::Prod)
      return 1;
    if (isFloat && (tracksNan || isPosition))
      return isMax ? -std::numeric_limits<double>::infinity()
                   : std::numeric_limits<double>::infinity();
    return 0;
  }

  Value identityValue() {
    if (isFloat)
      return e.constant(state, identity());
    unsigned width = state.getIntOrFloatBitWidth();
    APInt number(width, 0);
    switch (kind) {
    case ReduceKind::Prod:
      number = APInt(width, 1);
      break;
    case ReduceKind::Max:
    case ReduceKind::ArgMax:
      number = APInt::getSignedMinValue(width);
      break;
    case ReduceKind::Min:
    case ReduceKind::ArgMin:
      number = APInt::getSignedMaxValue(width);
      break;
    case ReduceKind::UMin:
    case ReduceKind::And:
      number = APInt::getAllOnes(width);
      break;
    default:
      break;
    }
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(state, number));
  }

  void initial(SmallVectorImpl<Value> &carried, unsigned width) {
    llvm::SaveAndRestore lanes(e.lanes, width);
    auto wide = [&](Value value) { return width > 1 ? e.splat(value) : value; };
    carried.push_back(wide(identityValue()));
    if (tracksNan)
      carried.push_back(wide(e.constant(b.getI1Type(), 0)));
    if (isPosition)
      carried.push_back(
          wide(alongLanes ? e.constant(b.getI32Type(), 0) : e.constant(b.getI64Type(), -1)));
  }

  LogicalResult accumulate(const Point &point, SmallVectorImpl<Value> &carried) {
    FailureOr<Value> found = e.evaluate(op.getOperand(), point);
    if (failed(found))
      return failure();
    if (kept)
      e.write(*kept, point, *found);
    bool isVector = isa<VectorType>(carried[0].getType());
    Value value = isVector ? e.asVector(*found) : *found;
    if (state != element)
      value = e.convertFloat(value, state);
    bool isMasked = isVector && e.mask && point.lane == axis;
    if (isPosition)
      return position(value, point, carried);
    if (tracksNan) {
      Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
      if (isMasked)
        isNan = arith::AndIOp::create(b, loc, isNan, e.mask);
      carried[1] = arith::OrIOp::create(b, loc, carried[1], isNan);
    }
    if (isMasked)
      value = arith::SelectOp::create(b, loc, e.mask, value, e.splat(identityValue()));
    carried[0] = combine(carried[0], value);
    return success();
  }

  /// The first of the greatest; the first NaN, if there is one.
  LogicalResult position(Value value, const Point &point, SmallVectorImpl<Value> &carried) {
    Value better;
    bool isMax = kind == ReduceKind::ArgMax;
    if (isFloat) {
      Value beats = arith::CmpFOp::create(
          b, loc, isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, value, carried[0]);
      Value isSet =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, carried[0], carried[0]);
      better = arith::AndIOp::create(b, loc, beats, isSet);
    } else {
      better = arith::CmpIOp::create(
          b, loc, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, value, carried[0]);
    }
    if (alongLanes) {
      if (e.mask)
        better = arith::AndIOp::create(b, loc, better, e.mask);
      carried[0] = arith::SelectOp::create(b, loc, better, value, carried[0]);
      carried[1] = arith::SelectOp::create(b, loc, better, strip(point), carried[1]);
      return success();
    }
    Value at = e.ix().value(point.at[axis]);
    bool isVector = isa<VectorType>(carried[1].getType());
    Value none = e.constant(b.getI64Type(), -1);
    if (isVector) {
      at = e.splat(at);
      none = e.splat(none);
    }
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, carried[1], none);
    better = arith::OrIOp::create(b, loc, better, isFirst);
    carried[0] = arith::SelectOp::create(b, loc, better, value, carried[0]);
    carried[1] = arith::SelectOp::create(b, loc, better, at, carried[1]);
    return success();
  }

  //===--- positions along the lanes ---------------------------------------===//

  // A lane carries the number of the strip where it found its value, in 32 bits. It begins with the
  // identity in strip 0: where nothing is better, that is the first of equals.

  Value strip(const Point &point) {
    Ix number = e.ix().div(point.at[axis], e.lanes);
    return e.splat(arith::TruncIOp::create(b, loc, b.getI32Type(), e.ix().value(number)));
  }

  Value isNan(Value value) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  }

  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  /// Whether x is as good as y, and whether it is better.
  std::pair<Value, Value> compareValues(Value x, Value y) {
    bool isMax = kind == ReduceKind::ArgMax;
    if (!isFloat)
      return {compare(arith::CmpIPredicate::eq, x, y),
              compare(isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, y)};
    Value nanX = isNan(x), nanY = isNan(y);
    Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
    same = arith::OrIOp::create(b, loc, same, arith::AndIOp::create(b, loc, nanX, nanY));
    Value beats = arith::CmpFOp::create(
        b, loc, isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, x, y);
    Value hasNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, y, y);
    return {same, arith::AndIOp::create(b, loc, beats, hasNumber)};
  }

  /// `other` is of other strips of the same lanes.
  void joinPositions(SmallVectorImpl<Value> &carried, ArrayRef<Value> other) {
    auto [same, better] = compareValues(other[0], carried[0]);
    Value isEarlier = compare(arith::CmpIPredicate::slt, other[1], carried[1]);
    better = arith::OrIOp::create(b, loc, better, arith::AndIOp::create(b, loc, same, isEarlier));
    carried[0] = arith::SelectOp::create(b, loc, better, other[0], carried[0]);
    carried[1] = arith::SelectOp::create(b, loc, better, other[1], carried[1]);
  }

  /// The first position among the lanes that hold the best value.
  Value firstOfLanes(ArrayRef<Value> carried) {
    auto type = cast<VectorType>(carried[0].getType());
    llvm::SaveAndRestore lanes(e.lanes, unsigned(type.getNumElements()));
    Type i64 = b.getI64Type();
    Value place = arith::ExtSIOp::create(b, loc, e.typeOf(i64, true), carried[1]);
    place = arith::MulIOp::create(b, loc, place, e.splat(e.constant(i64, double(e.lanes))));
    place = arith::AddIOp::create(b, loc, place, e.laneOffsets(1));
    bool isMax = kind == ReduceKind::ArgMax;
    Value best;
    if (!isFloat)
      best = isMax ? Value(LLVM::vector_reduce_smax::create(b, loc, state, carried[0]))
                   : Value(LLVM::vector_reduce_smin::create(b, loc, state, carried[0]));
    else // NaN wins
      best = isMax ? Value(LLVM::vector_reduce_fmaximum::create(b, loc, state, carried[0], {}))
                   : Value(LLVM::vector_reduce_fminimum::create(b, loc, state, carried[0], {}));
    Value isBest = compareValues(carried[0], e.splat(best)).first;
    Value beyond = e.splat(arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(std::numeric_limits<int64_t>::max())));
    place = arith::SelectOp::create(b, loc, isBest, place, beyond);
    return LLVM::vector_reduce_smin::create(b, loc, i64, place);
  }

  Value combine(Value x, Value y) {
    auto select = [&](arith::CmpFPredicate predicate) -> Value {
      Value isFirst = arith::CmpFOp::create(b, loc, predicate, x, y);
      return arith::SelectOp::create(b, loc, isFirst, x, y);
    };
    switch (kind) {
    case ReduceKind::Sum:
      return isFloat ? Value(arith::AddFOp::create(b, loc, x, y, arith::FastMathFlags::contract))
                     : Value(arith::AddIOp::create(b, loc, x, y));
    case ReduceKind::Prod:
      return isFloat ? Value(arith::MulFOp::create(b, loc, x, y))
                     : Value(arith::MulIOp::create(b, loc, x, y));
    case ReduceKind::Max:
      return isFloat ? select(arith::CmpFPredicate::OGT)
                     : Value(arith::MaxSIOp::create(b, loc, x, y));
    case ReduceKind::Min:
      return isFloat ? select(arith::CmpFPredicate::OLT)
                     : Value(arith::MinSIOp::create(b, loc, x, y));
    case ReduceKind::UMax:
      return arith::MaxUIOp::create(b, loc, x, y);
    case ReduceKind::UMin:
      return arith::MinUIOp::create(b, loc, x, y);
    case ReduceKind::And:
      return arith::AndIOp::create(b, loc, x, y);
    case ReduceKind::Or:
      return arith::OrIOp::create(b, loc, x, y);
    default:
      return x;
    }
  }

  //===--- the end ---------------------------------------------------------===//

  /// The best lane; there is no NaN. Halves are compared with each other: LLVM's own reductions go
  /// through the lanes one after the other.
  Value bestLane(Value vector) {
    auto first = [&](int64_t begin, int64_t count) {
      auto lanes = llvm::to_vector(llvm::seq<int32_t>(int32_t(begin), int32_t(begin + count)));
      return LLVM::ShuffleVectorOp::create(b, loc, vector, vector, lanes).getResult();
    };
    int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
    for (; lanes > 1; lanes /= 2)
      vector = combine(first(0, lanes / 2), first(lanes / 2, lanes / 2));
    return LLVM::ExtractElementOp::create(b, loc, vector, e.constant(b.getI64Type(), 0));
  }

  Value horizontal(Value vector) {
    Type type = state;
    auto flags = LLVM::FastmathFlags::reassoc;
    switch (kind) {
    case ReduceKind::Sum:
      if (isFloat)
        return LLVM::vector_reduce_fadd::create(b, loc, type, e.constant(state, -0.0), vector,
                                                flags);
      return LLVM::vector_reduce_add::create(b, loc, type, vector);
    case ReduceKind::Prod:
      if (isFloat)
        return LLVM::vector_reduce_fmul::create(b, loc, type, e.constant(state, 1), vector, flags);
      return LLVM::vector_reduce_mul::create(b, loc, type, vector);
    case ReduceKind::Max:
      return isFloat ? bestLane(vector)
                     : Value(LLVM::vector_reduce_smax::create(b, loc, type, vector));
    case ReduceKind::Min:
      return isFloat ? bestLane(vector)
                     : Value(LLVM::vector_reduce_smin::create(b, loc, type, vector));
    case ReduceKind::UMax:
      return LLVM::vector_reduce_umax::create(b, loc, type, vector);
    case ReduceKind::UMin:
      return LLVM::vector_reduce_umin::create(b, loc, type, vector);
    case ReduceKind::And:
      return LLVM::vector_reduce_and::create(b, loc, type, vector);
    default:
      return LLVM::vector_reduce_or::create(b, loc, type, vector);
    }
  }

  Value finish(ArrayRef<Value> carried) {
    if (isPosition && alongLanes)
      return firstOfLanes(carried);
    if (isPosition) {
      Value zero = e.constant(b.getI64Type(), 0);
      if (isa<VectorType>(carried[1].getType()))
        zero = e.splat(zero);
      return arith::MaxSIOp::create(b, loc, carried[1], zero); // nothing at all gives 0
    }
    Value value = alongLanes ? horizontal(carried[0]) : carried[0];
    if (tracksNan) {
      Value isNan = carried[1];
      if (alongLanes)
        isNan = LLVM::vector_reduce_or::create(b, loc, b.getI1Type(), isNan);
      Value nan = e.constant(state, std::numeric_limits<double>::quiet_NaN());
      if (isa<VectorType>(value.getType()))
        nan = e.splat(nan);
      value = arith::SelectOp::create(b, loc, isNan, nan, value);
    }
    return state == element ? value : e.convertFloat(value, element);
  }

  Emitter &e;
  OpBuilder &b;
  Location loc;
  tile::ReduceOp op;
  const Step &step;
  const ReduceStep &plan;
  ReduceKind kind;
  Type element, state; // of the operand, and of what is carried
  int axis;
  Indices extents;
  bool isFloat, tracksNan, isPosition;
  bool alongLanes = false; // the axis is the one that vectors lie along
  std::optional<Memory> kept;
};

} // namespace

LogicalResult Emitter::reduce(tile::ReduceOp op, const Step &step) {
  return ReduceEmitter(*this, op, step).run();
}

} // namespace tw::target::cpu
