// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Operations/Combine.h"
#include "Target/Common/Operations/Elementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using tw::tile::ReduceKind;
using tw::tile::ScanKind;

namespace tw::target {

static Value constant(OpBuilder &b, Location loc, Type type, const APInt &number) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, number));
}

static Value floatIdentity(OpBuilder &b, Location loc, ReduceKind kind, Type type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case ReduceKind::Prod:
    return emitNumber(b, loc, type, 1);
  case ReduceKind::Max:
  case ReduceKind::ArgMax:
    return emitNumber(b, loc, type, -infinity);
  case ReduceKind::Min:
  case ReduceKind::ArgMin:
    return emitNumber(b, loc, type, infinity);
  default:
    return emitNumber(b, loc, type, 0);
  }
}

Value reduceIdentity(OpBuilder &b, Location loc, ReduceKind kind, Type type) {
  if (isa<FloatType>(type))
    return floatIdentity(b, loc, kind, type);
  unsigned width = type.getIntOrFloatBitWidth();
  switch (kind) {
  case ReduceKind::Prod:
    return constant(b, loc, type, APInt(width, 1));
  case ReduceKind::Max:
  case ReduceKind::ArgMax:
    return constant(b, loc, type, APInt::getSignedMinValue(width));
  case ReduceKind::Min:
  case ReduceKind::ArgMin:
    return constant(b, loc, type, APInt::getSignedMaxValue(width));
  case ReduceKind::UMin:
  case ReduceKind::And:
    return constant(b, loc, type, APInt::getAllOnes(width));
  default:
    return constant(b, loc, type, APInt(width, 0));
  }
}

Value emitReduceStep(OpBuilder &b, Location loc, ReduceKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
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

Value scanIdentity(OpBuilder &b, Location loc, ScanKind kind, Type type) {
  switch (kind) {
  case ScanKind::Sum:
    return reduceIdentity(b, loc, ReduceKind::Sum, type);
  case ScanKind::Prod:
    return reduceIdentity(b, loc, ReduceKind::Prod, type);
  case ScanKind::Max:
    return reduceIdentity(b, loc, ReduceKind::Max, type);
  case ScanKind::Min:
    return reduceIdentity(b, loc, ReduceKind::Min, type);
  }
  return {};
}

Value emitScanStep(OpBuilder &b, Location loc, ScanKind kind, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
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

} // namespace tw::target
