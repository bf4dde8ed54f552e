// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the greatest or least element is: argmax and argmin.
#include "Target/CPU/Emission/Reducer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using tw::tile::ReduceKind;

namespace tw::target::cpu {

/// Nothing is better than NaN.
Value Reducer::betterThan(Value value, Value carried) {
  bool isMax = kind == ReduceKind::ArgMax;
  if (!isFloat)
    return arith::CmpIOp::create(
        b, loc, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, value, carried);
  Value beats = arith::CmpFOp::create(
      b, loc, isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, value, carried);
  Value isSet = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, carried, carried);
  return arith::AndIOp::create(b, loc, beats, isSet);
}

/// The first of the greatest; the first NaN, if there is one.
void Reducer::takePosition(Value value, const Point &point, SmallVectorImpl<Value> &carried) {
  Value better = betterThan(value, carried[0]);
  if (alongLanes) {
    if (e.mask)
      better = arith::AndIOp::create(b, loc, better, e.mask);
    carried[0] = arith::SelectOp::create(b, loc, better, value, carried[0]);
    carried[1] = arith::SelectOp::create(b, loc, better, strip(point), carried[1]);
    return;
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
}

//===--- positions along the lanes ---------------------------------------===//

// A lane carries the number of the strip where it found its value, in 32 bits. It begins with the
// identity in strip 0: where nothing is better, that is the first of equals.

Value Reducer::strip(const Point &point) {
  Ix number = e.ix().div(point.at[axis], e.lanes);
  return e.splat(arith::TruncIOp::create(b, loc, b.getI32Type(), e.ix().value(number)));
}

Value Reducer::isNan(Value value) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
}

/// Whether x is as good as y, and whether it is better.
std::pair<Value, Value> Reducer::compareValues(Value x, Value y) {
  bool isMax = kind == ReduceKind::ArgMax;
  if (!isFloat)
    return {arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y),
            arith::CmpIOp::create(
                b, loc, isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, x, y)};
  Value nanX = isNan(x), nanY = isNan(y);
  Value same = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  same = arith::OrIOp::create(b, loc, same, arith::AndIOp::create(b, loc, nanX, nanY));
  Value beats = arith::CmpFOp::create(
      b, loc, isMax ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT, x, y);
  Value hasNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, y, y);
  return {same, arith::AndIOp::create(b, loc, beats, hasNumber)};
}

/// `other` is of other strips of the same lanes.
void Reducer::joinPositions(SmallVectorImpl<Value> &carried, ArrayRef<Value> other) {
  auto [same, better] = compareValues(other[0], carried[0]);
  Value isEarlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, other[1], carried[1]);
  better = arith::OrIOp::create(b, loc, better, arith::AndIOp::create(b, loc, same, isEarlier));
  carried[0] = arith::SelectOp::create(b, loc, better, other[0], carried[0]);
  carried[1] = arith::SelectOp::create(b, loc, better, other[1], carried[1]);
}

/// The first position among the lanes that hold the best value.
Value Reducer::firstOfLanes(ArrayRef<Value> carried) {
  auto type = cast<VectorType>(carried[0].getType());
  llvm::SaveAndRestore lanes(e.lanes, unsigned(type.getNumElements()));
  Type i64 = b.getI64Type();
  Value place = arith::ExtSIOp::create(b, loc, e.typeOf(i64, true), carried[1]);
  place = arith::MulIOp::create(b, loc, place, e.splat(e.constant(i64, double(e.lanes))));
  place = arith::AddIOp::create(b, loc, place, e.laneOffsets(1));
  bool isMax = kind == ReduceKind::ArgMax;
  using vector::CombiningKind;
  auto best = isFloat // NaN wins
                  ? (isMax ? CombiningKind::MAXIMUMF : CombiningKind::MINIMUMF)
                  : (isMax ? CombiningKind::MAXSI : CombiningKind::MINSI);
  Value value = vector::ReductionOp::create(b, loc, best, carried[0]);
  Value isBest = compareValues(carried[0], e.splat(value)).first;
  Value beyond = e.splat(
      arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(std::numeric_limits<int64_t>::max())));
  place = arith::SelectOp::create(b, loc, isBest, place, beyond);
  return vector::ReductionOp::create(b, loc, CombiningKind::MINSI, place);
}

} // namespace tw::target::cpu
