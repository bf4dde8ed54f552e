// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/CPU/Emission/Reducer.h"
#include "Target/Common/Operations/Combine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using tw::tile::ReduceKind;

namespace tw::target::cpu {

Reducer::Reducer(Emitter &e, tile::ReduceOp op, bool alongLanes)
    : e(e), b(e.b), loc(e.loc), kind(op.getKind()),
      element(Emitter::scalarType(op.getOperand().getType().getElementType())),
      axis(int(op.getAxis())), alongLanes(alongLanes) {
  bool isHalf = element.isF16() || element.isBF16();
  state = isHalf ? Type(b.getF32Type()) : element;
  isFloat = isa<FloatType>(element);
  tracksNan = isFloat && (kind == ReduceKind::Max || kind == ReduceKind::Min);
  isPosition = kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin;
}

Value Reducer::identityValue() { return reduceIdentity(b, loc, kind, state); }

void Reducer::initial(SmallVectorImpl<Value> &carried, unsigned width) {
  llvm::SaveAndRestore lanes(e.lanes, width);
  auto wide = [&](Value value) { return width > 1 ? e.splat(value) : value; };
  carried.push_back(wide(identityValue()));
  if (tracksNan)
    carried.push_back(wide(e.constant(b.getI1Type(), 0)));
  if (isPosition)
    carried.push_back(
        wide(alongLanes ? e.constant(b.getI32Type(), 0) : e.constant(b.getI64Type(), -1)));
}

void Reducer::accumulate(Value found, const Point &point, SmallVectorImpl<Value> &carried) {
  bool isVector = isa<VectorType>(carried[0].getType());
  Value value = isVector ? e.asVector(found) : found;
  if (state != element)
    value = e.convertFloat(value, state);
  bool isMasked = isVector && e.mask && point.lane == axis;
  if (isPosition)
    return takePosition(value, point, carried);
  if (tracksNan) {
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    if (isMasked)
      isNan = arith::AndIOp::create(b, loc, isNan, e.mask);
    carried[1] = arith::OrIOp::create(b, loc, carried[1], isNan);
  }
  if (isMasked)
    value = arith::SelectOp::create(b, loc, e.mask, value, e.splat(identityValue()));
  carried[0] = combine(carried[0], value);
}

void Reducer::join(SmallVectorImpl<Value> &carried, ArrayRef<Value> other) {
  if (isPosition)
    return joinPositions(carried, other);
  carried[0] = combine(carried[0], other[0]);
  if (tracksNan)
    carried[1] = arith::OrIOp::create(b, loc, carried[1], other[1]);
}

Value Reducer::combine(Value x, Value y) { return emitReduceStep(b, loc, kind, x, y); }

/// The best lane; there is no NaN. Halves are compared with each other: LLVM's own reductions go
/// through the lanes one after the other.
Value Reducer::bestLane(Value vector) {
  auto first = [&](int64_t begin, int64_t count) {
    auto lanes = llvm::to_vector(llvm::seq(begin, begin + count));
    return vector::ShuffleOp::create(b, loc, vector, vector, lanes).getResult();
  };
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (; lanes > 1; lanes /= 2)
    vector = combine(first(0, lanes / 2), first(lanes / 2, lanes / 2));
  return vector::ExtractOp::create(b, loc, vector, 0);
}

static vector::CombiningKind combiningKind(ReduceKind kind) {
  using vector::CombiningKind;
  switch (kind) {
  case ReduceKind::Sum:
    return CombiningKind::ADD;
  case ReduceKind::Prod:
    return CombiningKind::MUL;
  case ReduceKind::Max:
    return CombiningKind::MAXSI;
  case ReduceKind::Min:
    return CombiningKind::MINSI;
  case ReduceKind::UMax:
    return CombiningKind::MAXUI;
  case ReduceKind::UMin:
    return CombiningKind::MINUI;
  case ReduceKind::And:
    return CombiningKind::AND;
  default:
    return CombiningKind::OR;
  }
}

/// Sums and products of floats begin with what changes nothing, not even a -0, and may take any
/// order.
Value Reducer::horizontal(Value vector) {
  if (!isFloat)
    return vector::ReductionOp::create(b, loc, combiningKind(kind), vector);
  if (kind != ReduceKind::Sum && kind != ReduceKind::Prod)
    return bestLane(vector);
  Value neutral = e.constant(state, kind == ReduceKind::Sum ? -0.0 : 1);
  return vector::ReductionOp::create(b, loc, combiningKind(kind), vector, neutral,
                                     arith::FastMathFlags::reassoc);
}

Value Reducer::finish(ArrayRef<Value> carried) {
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
      isNan = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, isNan);
    Value nan = e.constant(state, std::numeric_limits<double>::quiet_NaN());
    if (isa<VectorType>(value.getType()))
      nan = e.splat(nan);
    value = arith::SelectOp::create(b, loc, isNan, nan, value);
  }
  return state == element ? value : e.convertFloat(value, element);
}

} // namespace tw::target::cpu
