// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tile.scan: in vectors across the dimension that is scanned, else one element after the other.
#include "Target/CPU/Emission/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using tw::tile::ScanKind;

namespace tw::target::cpu {

static Value combine(Emitter &e, ScanKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  OpBuilder &b = e.b;
  Location loc = e.loc;
  switch (kind) {
  case ScanKind::Sum:
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y))
                   : Value(arith::AddIOp::create(b, loc, x, y));
  case ScanKind::Prod:
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y))
                   : Value(arith::MulIOp::create(b, loc, x, y));
  case ScanKind::Max:
    return isFloat ? Value(arith::MaximumFOp::create(b, loc, x, y))
                   : Value(arith::MaxSIOp::create(b, loc, x, y));
  case ScanKind::Min:
    return isFloat ? Value(arith::MinimumFOp::create(b, loc, x, y))
                   : Value(arith::MinSIOp::create(b, loc, x, y));
  }
  return x;
}

/// What combines with every value to that value.
static Value neutral(Emitter &e, ScanKind kind, Type type) {
  double infinity = std::numeric_limits<double>::infinity();
  if (kind == ScanKind::Sum || kind == ScanKind::Prod)
    return e.constant(type, kind == ScanKind::Prod);
  if (isa<FloatType>(type))
    return e.constant(type, kind == ScanKind::Max ? -infinity : infinity);
  unsigned width = type.getIntOrFloatBitWidth();
  APInt number =
      kind == ScanKind::Max ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(e.b, e.loc, e.b.getIntegerAttr(type, number));
}

LogicalResult Emitter::scan(tile::ScanOp op, const Step &step) {
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  Type element = scalarType(type.getElementType());
  bool isHalf = element.isF16() || element.isBF16();
  Type state = isHalf ? Type(b.getF32Type()) : element;
  Indices all = extents(op.getOperand()), others = all;
  int axis = op.getAxis();
  if (failed(place(step.before)))
    return failure();
  others[axis] = 1;
  Memory room = allocate(tile::extentsOf(type), type.getElementType());
  auto line = [&](const Point &first) -> LogicalResult {
    Value start = neutral(*this, op.getKind(), state);
    SmallVector<Value> carried = {first.lane >= 0 ? asVector(start) : start};
    return loop(0, all[axis], 1, carried, [&](const Ix &at) -> LogicalResult {
      Point point = first;
      point.at[axis] = op.getReverse() ? ix().sub(ix().sub(all[axis], 1), at) : at;
      FailureOr<Value> found = evaluate(op.getOperand(), point);
      if (failed(found))
        return failure();
      Value value = point.lane >= 0 ? asVector(*found) : *found;
      carried[0] = combine(*this, op.getKind(), carried[0], convertFloat(value, state));
      write(room, point, convertFloat(carried[0], element));
      return success();
    });
  };
  {
    Scope scope(*this);
    if (failed(overElements(others, step.strips, line)))
      return failure();
  }
  memory[op.getResult()] = room;
  return success();
}

} // namespace tw::target::cpu
