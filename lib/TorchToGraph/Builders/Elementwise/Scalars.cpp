// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Elementwise/Scalars.h"
#include "TorchToGraph/Builders/Bounds.h"
#include "TorchToGraph/Builders/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

static Scalar floatOf(Lowering &ctx, double value) {
  return Scalar::ofFloat(ctx.b.getContext(), value);
}

/// Python's % and // on floats.
static double pythonRemainder(double a, double b) {
  double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double fold(ScalarOp op, double a, double b) {
  switch (op) {
  case ScalarOp::Add:
    return a + b;
  case ScalarOp::Sub:
    return a - b;
  case ScalarOp::Mul:
    return a * b;
  case ScalarOp::Div:
    return a / b;
  case ScalarOp::FloorDiv:
    return std::floor(a / b);
  case ScalarOp::Remainder:
    return pythonRemainder(a, b);
  case ScalarOp::Pow:
    return std::pow(a, b);
  case ScalarOp::Max:
    return std::max(a, b);
  case ScalarOp::Min:
    return std::min(a, b);
  }
  return 0;
}

static Value emitFloat(const Element &e, ScalarOp op, Value a, Value b) {
  switch (op) {
  case ScalarOp::Add:
    return e.add(a, b);
  case ScalarOp::Sub:
    return e.sub(a, b);
  case ScalarOp::Mul:
    return e.mul(a, b);
  case ScalarOp::Div:
    return e.div(a, b);
  case ScalarOp::FloorDiv:
    return e.floorDiv(a, b);
  case ScalarOp::Remainder:
    return e.remainder(a, b);
  case ScalarOp::Pow:
    return e.pow(a, b);
  case ScalarOp::Max:
    return e.max(a, b);
  case ScalarOp::Min:
    return e.min(a, b);
  }
  return a;
}

/// x to a constant power as products; refuses an exponent known only at run time.
static OpFoldResult integerPower(Lowering &ctx, OpFoldResult x, OpFoldResult exponent) {
  IndexMath math{ctx.b, ctx.loc};
  auto known = constantOf(exponent);
  if (!known || *known < 0 || *known > 64) {
    ctx.refuse("an int to this power is not supported");
    return x;
  }
  OpFoldResult result = math.constant(1);
  for (int64_t i = 0; i < *known; ++i)
    result = math.mul(result, x);
  return result;
}

static OpFoldResult emitInt(Lowering &ctx, ScalarOp op, OpFoldResult a, OpFoldResult b) {
  IndexMath math{ctx.b, ctx.loc};
  bool divides = op == ScalarOp::FloorDiv || op == ScalarOp::Remainder;
  if (divides && !ctx.allSizes().knownAtMost(math.constant(1), b))
    requireDifferent(ctx, b, math.constant(0), "integer division by zero");
  switch (op) {
  case ScalarOp::Add:
    return math.add(a, b);
  case ScalarOp::Sub:
    return math.sub(a, b);
  case ScalarOp::Mul:
    return math.mul(a, b);
  case ScalarOp::FloorDiv:
    return math.floorDiv(a, b);
  case ScalarOp::Remainder:
    return math.remainder(a, b);
  case ScalarOp::Pow:
    return integerPower(ctx, a, b);
  case ScalarOp::Max:
    return math.max(a, b);
  default:
    return math.min(a, b);
  }
}

/// A bool counts as an int.
static Scalar asNumber(Lowering &ctx, const Scalar &x) {
  return x.kind == Scalar::Kind::Bool ? toInt(ctx, x) : x;
}

Scalar combine(Lowering &ctx, ScalarOp op, const Scalar &first, const Scalar &second) {
  Scalar a = asNumber(ctx, first), b = asNumber(ctx, second);
  bool fromData = a.fromData || b.fromData;
  if (!a.isFloat() && !b.isFloat() && op != ScalarOp::Div)
    return {Scalar::Kind::Int, emitInt(ctx, op, a.value, b.value), fromData};
  if (a.isConstant() && b.isConstant())
    return floatOf(ctx, fold(op, *a.constantNumber(), *b.constantNumber()));
  Element e(ctx.b, ctx.loc, DType::F64);
  Value value = emitFloat(e, op, a.element(ctx.b, ctx.loc, DType::F64),
                          b.element(ctx.b, ctx.loc, DType::F64));
  return {Scalar::Kind::Float, value, fromData};
}

static bool fold(ScalarComparison op, double a, double b) {
  switch (op) {
  case ScalarComparison::Eq:
    return a == b;
  case ScalarComparison::Ne:
    return a != b;
  case ScalarComparison::Lt:
    return a < b;
  case ScalarComparison::Le:
    return a <= b;
  case ScalarComparison::Gt:
    return a > b;
  case ScalarComparison::Ge:
    return a >= b;
  }
  return false;
}

static Value emit(const Element &e, ScalarComparison op, Value a, Value b) {
  switch (op) {
  case ScalarComparison::Eq:
    return e.eq(a, b);
  case ScalarComparison::Ne:
    return e.ne(a, b);
  case ScalarComparison::Lt:
    return e.lt(a, b);
  case ScalarComparison::Le:
    return e.le(a, b);
  case ScalarComparison::Gt:
    return e.gt(a, b);
  case ScalarComparison::Ge:
    return e.ge(a, b);
  }
  return a;
}

Scalar compare(Lowering &ctx, ScalarComparison op, const Scalar &first, const Scalar &second) {
  Scalar a = asNumber(ctx, first), b = asNumber(ctx, second);
  bool ints = !a.isFloat() && !b.isFloat();
  if (a.isConstant() && b.isConstant())
    return Scalar::ofBool(ctx.b.getContext(), fold(op, *a.constantNumber(), *b.constantNumber()));
  if (ints && knownEqual(a.value, b.value))
    return Scalar::ofBool(ctx.b.getContext(), fold(op, 0, 0));
  DType dtype = ints ? DType::I64 : DType::F64;
  Element e(ctx.b, ctx.loc, dtype);
  Value value =
      ints ? emit(e, op, a.materialize(ctx.b, ctx.loc), b.materialize(ctx.b, ctx.loc))
           : emit(e, op, a.element(ctx.b, ctx.loc, dtype), b.element(ctx.b, ctx.loc, dtype));
  return {Scalar::Kind::Bool, value, a.fromData || b.fromData};
}

Scalar toFloat(Lowering &ctx, const Scalar &x) {
  if (auto number = x.constantNumber())
    return floatOf(ctx, *number);
  return {Scalar::Kind::Float, x.element(ctx.b, ctx.loc, DType::F64), x.fromData};
}

Scalar toInt(Lowering &ctx, const Scalar &x) {
  if (x.kind == Scalar::Kind::Int)
    return x;
  if (auto number = x.constantNumber())
    return Scalar::ofInt(ctx.b.getContext(), std::abs(*number) < 9e18 ? int64_t(*number) : 0);
  Value whole = x.element(ctx.b, ctx.loc, DType::I64);
  return {Scalar::Kind::Int,
          arith::IndexCastOp::create(ctx.b, ctx.loc, ctx.b.getIndexType(), whole).getResult(),
          x.fromData};
}

Scalar toBool(Lowering &ctx, const Scalar &x) {
  if (auto number = x.constantNumber())
    return Scalar::ofBool(ctx.b.getContext(), *number != 0);
  return {Scalar::Kind::Bool, x.element(ctx.b, ctx.loc, DType::Bool), x.fromData};
}

} // namespace tw::lower
