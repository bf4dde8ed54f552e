// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "IR/Graph/Graph.h"
#include "TorchToGraph/Core/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

namespace tw::lower {

Type Element::type() const { return elementType(b.getContext(), dtype); }

Value Element::constant(double value) const {
  if (!isFloat(dtype))
    return constant(dtype == DType::Bool ? int64_t(value != 0) : int64_t(value));
  APFloat number(value);
  bool loses;
  number.convert(cast<FloatType>(type()).getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
  return arith::ConstantOp::create(b, loc, FloatAttr::get(type(), number));
}

Value Element::constant(int64_t value) const {
  if (isFloat(dtype))
    return constant(double(value));
  if (dtype == DType::Bool)
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(value != 0));
  APInt bits(info(dtype).bytes * 8, uint64_t(value), true, true);
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(type(), bits));
}

Value Element::lowest() const {
  if (isFloat(dtype))
    return constant(-INFINITY);
  return constant(isUnsigned(dtype) ? int64_t(0) : INT64_MIN >> (64 - 8 * info(dtype).bytes));
}

Value Element::highest() const {
  if (isFloat(dtype))
    return constant(double(INFINITY));
  if (dtype == DType::Bool)
    return constant(1);
  int bits = 8 * info(dtype).bytes - (isUnsigned(dtype) ? 0 : 1);
  return constant(int64_t((uint64_t(1) << bits) - 1));
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

static Value floatToFloat(const Element &e, Value x) {
  unsigned from = x.getType().getIntOrFloatBitWidth(), to = e.type().getIntOrFloatBitWidth();
  if (x.getType() == e.type())
    return x;
  if (from == to) { // f16 <-> bf16
    x = arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), x);
    from = 32;
  }
  if (from < to)
    return arith::ExtFOp::create(e.b, e.loc, e.type(), x);
  return arith::TruncFOp::create(e.b, e.loc, e.type(), x);
}

/// Out of range (or NaN) gives the smallest integer, as x86 does, and never poison.
static Value floatToInteger(const Element &e, Value x, DType from) {
  Element source(e.b, e.loc, opmath(from));
  x = source.cast(x, from);
  Element target = e.as(e.dtype == DType::I32 ? DType::I32 : DType::I64);
  double bound = std::ldexp(1.0, 8 * info(target.dtype).bytes - 1);
  // -bound itself is in range; for i32 in f64, so is everything above -bound - 1.
  Value aboveLow = e.dtype == DType::I32 && from == DType::F64
                       ? source.gt(x, source.constant(-bound - 1))
                       : source.ge(x, source.constant(-bound));
  Value fits = source.conjunction(aboveLow, source.lt(x, source.constant(bound)));
  Value safe = source.select(fits, x, source.constant(0));
  Value whole = arith::FPToSIOp::create(e.b, e.loc, target.type(), safe);
  return e.cast(target.select(fits, whole, target.lowest()), target.dtype);
}

static Value integerToInteger(const Element &e, Value x, DType from) {
  unsigned have = x.getType().getIntOrFloatBitWidth(), want = e.type().getIntOrFloatBitWidth();
  if (have == want)
    return x;
  if (have > want)
    return arith::TruncIOp::create(e.b, e.loc, e.type(), x);
  if (isUnsigned(from))
    return arith::ExtUIOp::create(e.b, e.loc, e.type(), x);
  return arith::ExtSIOp::create(e.b, e.loc, e.type(), x);
}

Value Element::cast(Value x, DType from) const {
  if (from == dtype)
    return x;
  if (dtype == DType::Bool) {
    Element source = as(from);
    return source.ne(x, source.constant(0));
  }
  if (isFloat(from))
    return isFloat(dtype) ? floatToFloat(*this, x) : floatToInteger(*this, x, from);
  if (!isFloat(dtype))
    return integerToInteger(*this, x, from);
  Element wide = as(opmath(dtype));
  Value number = isUnsigned(from) ? Value(arith::UIToFPOp::create(b, loc, wide.type(), x))
                                  : Value(arith::SIToFPOp::create(b, loc, wide.type(), x));
  return floatToFloat(*this, number);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntegerOp>
Value Element::either(Value x, Value y) const {
  if (isFloat(dtype))
    return FloatOp::create(b, loc, x, y);
  return IntegerOp::create(b, loc, x, y);
}

Value Element::add(Value x, Value y) const {
  if (dtype == DType::Bool)
    return disjunction(x, y);
  return either<arith::AddFOp, arith::AddIOp>(x, y);
}

Value Element::sub(Value x, Value y) const { return either<arith::SubFOp, arith::SubIOp>(x, y); }

Value Element::mul(Value x, Value y) const {
  if (dtype == DType::Bool)
    return conjunction(x, y);
  return either<arith::MulFOp, arith::MulIOp>(x, y);
}

Value Element::neg(Value x) const {
  if (isFloat(dtype))
    return arith::NegFOp::create(b, loc, x);
  return sub(constant(0), x);
}

Value Element::abs(Value x) const {
  if (isFloat(dtype))
    return math::AbsFOp::create(b, loc, x);
  return isUnsigned(dtype) ? x : select(lt(x, constant(0)), neg(x), x);
}

Value Element::checkedDivisor(Value y) const {
  APInt known;
  if (matchPattern(y, m_ConstantInt(&known)) && !known.isZero())
    return y;
  Value isZero = eq(y, constant(0));
  Value position = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), isZero);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value checked = graph::CheckIndexOp::create(b, loc, position.getType(), position, one,
                                              "integer division by zero");
  // `checked` is always 0, but its use keeps the check.
  Value nothing = arith::IndexCastUIOp::create(b, loc, type(), checked);
  return arith::OrIOp::create(b, loc, select(isZero, constant(1), y), nothing);
}

/// Quotient and remainder toward zero; y = -1 is kept from the hardware, which traps on
/// INT_MIN / -1.
static std::pair<Value, Value> divideIntegers(const Element &e, Value x, Value y) {
  y = e.checkedDivisor(y);
  if (isUnsigned(e.dtype))
    return {arith::DivUIOp::create(e.b, e.loc, x, y), arith::RemUIOp::create(e.b, e.loc, x, y)};
  APInt known;
  if (matchPattern(y, m_ConstantInt(&known)) && !known.isAllOnes())
    return {arith::DivSIOp::create(e.b, e.loc, x, y), arith::RemSIOp::create(e.b, e.loc, x, y)};
  Value isMinusOne = e.eq(y, e.constant(-1));
  Value safe = e.select(isMinusOne, e.constant(1), y);
  Value quotient = arith::DivSIOp::create(e.b, e.loc, x, safe);
  Value rest = arith::RemSIOp::create(e.b, e.loc, x, safe);
  return {e.select(isMinusOne, e.neg(x), quotient), rest};
}

Value Element::div(Value x, Value y) const {
  if (isFloat(dtype))
    return arith::DivFOp::create(b, loc, x, y);
  return divideIntegers(*this, x, y).first;
}

Value Element::fmod(Value x, Value y) const {
  if (isFloat(dtype))
    return arith::RemFOp::create(b, loc, x, y);
  return divideIntegers(*this, x, y).second;
}

/// Whether a remainder toward zero must be moved by one divisor: it is not 0 and its sign is not
/// the divisor's.
static Value needsCorrection(const Element &e, Value rest, Value y) {
  Value zero = e.constant(0);
  Value signsDiffer = e.exclusive(e.lt(rest, zero), e.lt(y, zero));
  return e.conjunction(e.ne(rest, zero), signsDiffer);
}

/// As PyTorch: exact where the quotient of floats would round across an integer.
static Value floorDivideFloats(const Element &e, Value x, Value y) {
  Value rest = e.fmod(x, y);
  Value quotient = e.div(e.sub(x, rest), y);
  quotient = e.select(needsCorrection(e, rest, y), e.sub(quotient, e.constant(1)), quotient);
  Value floor = e.floor(quotient);
  Value rounded =
      e.select(e.gt(e.sub(quotient, floor), e.constant(0.5)), e.add(floor, e.constant(1)), floor);
  Value exact = e.div(x, y);
  Value signedZero = math::CopySignOp::create(e.b, e.loc, e.constant(0), exact);
  Value result = e.select(e.eq(quotient, e.constant(0)), signedZero, rounded);
  return e.select(e.eq(y, e.constant(0)), exact, result);
}

Value Element::floorDiv(Value x, Value y) const {
  if (isFloat(dtype))
    return floorDivideFloats(*this, x, y);
  auto [quotient, rest] = divideIntegers(*this, x, y);
  if (isUnsigned(dtype))
    return quotient;
  return select(needsCorrection(*this, rest, y), sub(quotient, constant(1)), quotient);
}

Value Element::remainder(Value x, Value y) const {
  Value rest = fmod(x, y);
  if (isUnsigned(dtype))
    return rest;
  return select(needsCorrection(*this, rest, y), add(rest, y), rest);
}

Value Element::max(Value x, Value y) const {
  if (isUnsigned(dtype))
    return arith::MaxUIOp::create(b, loc, x, y);
  return either<arith::MaximumFOp, arith::MaxSIOp>(x, y);
}

Value Element::min(Value x, Value y) const {
  if (isUnsigned(dtype))
    return arith::MinUIOp::create(b, loc, x, y);
  return either<arith::MinimumFOp, arith::MinSIOp>(x, y);
}

//===----------------------------------------------------------------------===//
// Comparisons and bits
//===----------------------------------------------------------------------===//

static Value compare(const Element &e, arith::CmpFPredicate floats, arith::CmpIPredicate integers,
                     Value x, Value y) {
  if (isFloat(e.dtype))
    return arith::CmpFOp::create(e.b, e.loc, floats, x, y);
  return arith::CmpIOp::create(e.b, e.loc, integers, x, y);
}

using arith::CmpFPredicate;
using arith::CmpIPredicate;

Value Element::eq(Value x, Value y) const {
  return compare(*this, CmpFPredicate::OEQ, CmpIPredicate::eq, x, y);
}

Value Element::ne(Value x, Value y) const {
  return compare(*this, CmpFPredicate::UNE, CmpIPredicate::ne, x, y);
}

Value Element::lt(Value x, Value y) const {
  auto integers = isUnsigned(dtype) ? CmpIPredicate::ult : CmpIPredicate::slt;
  return compare(*this, CmpFPredicate::OLT, integers, x, y);
}

Value Element::le(Value x, Value y) const {
  auto integers = isUnsigned(dtype) ? CmpIPredicate::ule : CmpIPredicate::sle;
  return compare(*this, CmpFPredicate::OLE, integers, x, y);
}

Value Element::isNan(Value x) const {
  if (isFloat(dtype))
    return arith::CmpFOp::create(b, loc, CmpFPredicate::UNO, x, x);
  return as(DType::Bool).constant(0);
}

Value Element::select(Value condition, Value x, Value y) const {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

Value Element::conjunction(Value x, Value y) const { return arith::AndIOp::create(b, loc, x, y); }

Value Element::disjunction(Value x, Value y) const { return arith::OrIOp::create(b, loc, x, y); }

Value Element::exclusive(Value x, Value y) const { return arith::XOrIOp::create(b, loc, x, y); }

Value Element::complement(Value x) const {
  // Of the value's own type: what a comparison gave is a bool whatever the dtype here.
  auto ones = IntegerAttr::get(x.getType(), -1);
  return exclusive(x, arith::ConstantOp::create(b, loc, ones));
}

//===----------------------------------------------------------------------===//
// Functions of floats
//===----------------------------------------------------------------------===//

Value Element::sqrt(Value x) const { return math::SqrtOp::create(b, loc, x); }
Value Element::rsqrt(Value x) const { return div(constant(1), sqrt(x)); }
Value Element::exp(Value x) const { return math::ExpOp::create(b, loc, x); }
Value Element::expm1(Value x) const { return math::ExpM1Op::create(b, loc, x); }
Value Element::log(Value x) const { return math::LogOp::create(b, loc, x); }
Value Element::log1p(Value x) const { return math::Log1pOp::create(b, loc, x); }
Value Element::tanh(Value x) const { return math::TanhOp::create(b, loc, x); }
Value Element::erf(Value x) const { return math::ErfOp::create(b, loc, x); }
Value Element::pow(Value x, Value y) const { return math::PowFOp::create(b, loc, x, y); }
Value Element::floor(Value x) const { return math::FloorOp::create(b, loc, x); }
Value Element::sigmoid(Value x) const { return reciprocal(add(constant(1), exp(neg(x)))); }

} // namespace tw::lower
