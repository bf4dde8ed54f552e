// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where MLIR's operation leaves something undefined that tile programs define, it is guarded here.
#include "Target/Common/Operations/Elementwise.h"
#include "IR/Tile/Tile.h"
#include "Target/Common/Math/Libm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target {
namespace {

bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

class ElementwiseEmitter {
public:
  ElementwiseEmitter(OpBuilder &b, Location loc, Operation *op,
                     const ElementwiseFunctions *functions)
      : b(b), loc(loc), op(op), functions(functions) {}

  Value run(ArrayRef<Value> given) {
    SmallVector<Value> operands(given);
    for (Value operand : operands)
      setLanes(operand);
    for (Value &operand : operands)
      operand = asVector(operand);
    Type element = scalarType(getElementTypeOrSelf(op->getResult(0).getType()));
    if (auto value = special(operands, element))
      return value;
    if (lanes && isa<arith::DivFOp>(op) && element.isF32() && !isa<VectorType>(given[1].getType()))
      return divideByOne(operands, given[1]);
    bool computesHalf =
        isHalf(element) || llvm::any_of(operands, [](Value v) { return isHalf(v.getType()); });
    if (!computesHalf || isa<arith::SelectOp>(op))
      return same(operands, element);
    // Half precision is computed in f32 and rounded.
    for (Value &operand : operands)
      if (isHalf(operand.getType()))
        operand = widen(operand);
    Value value = same(operands, isHalf(element) ? Type(b.getF32Type()) : element);
    return isHalf(element) ? narrow(value, element) : value;
  }

  Value convert(Value value, Type element) {
    setLanes(value);
    Type from = getElementTypeOrSelf(value.getType());
    bool isWider = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
    return from == element ? value : isWider ? extend(value, element) : truncate(value, element);
  }

private:
  void setLanes(Value operand) {
    if (auto vector = dyn_cast<VectorType>(operand.getType()))
      lanes = vector.getNumElements();
  }
  Value asVector(Value value) {
    return lanes == 0 || isa<VectorType>(value.getType()) ? value : splat(b, loc, value, lanes);
  }
  Type type(Type element) const {
    return lanes ? Type(VectorType::get(lanes, scalarType(element))) : scalarType(element);
  }
  Value constant(Type element, double number) {
    return asVector(emitNumber(b, loc, element, number));
  }
  Value integer(Type element, const APInt &number) {
    return asVector(arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, number)));
  }
  template <typename Op, typename... Args>
  Value make(Args... args) {
    return Op::create(b, loc, args...);
  }
  Value select(Value condition, Value yes, Value no) {
    return make<arith::SelectOp>(condition, yes, no);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return make<arith::CmpIOp>(predicate, x, y);
  }

  /// The same operation on what is here scalars or vectors.
  Value same(ArrayRef<Value> operands, Type element) {
    if (Value value = functions->polynomial(op->getName().getStringRef(), operands))
      return value;
    if (StringRef name = libmName(op); !name.empty())
      return functions->libm(name, operands);
    if (StringRef name = intrinsicImport(op); !name.empty())
      functions->imports.insert((name + (element.isF64() ? "" : "f")).str());
    OperationState state(loc, op->getName(), operands, type(element), op->getAttrs());
    Operation *made = b.create(state);
    // A product that is used again has one value: not a rounded and, in a sum, an unrounded one.
    bool isMergeable =
        isa<arith::AddFOp, arith::SubFOp>(made) || (isa<arith::MulFOp>(made) && op->hasOneUse());
    if (isMergeable)
      made->setAttr("fastmath",
                    arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract));
    return made->getResult(0);
  }

  /// A division takes as long as ten products: where all elements are divided by one number, its
  /// inverse is computed once (before the loop, LLVM sees to that): rounded towards 0, and what it
  /// lacks of 1 / d (N. Brisebarre, J.-M. Muller and S. Raina, "Accelerating correctly rounded
  /// floating-point division when the divisor is known in advance", 2004). Both have d's sign, so
  /// that infinite quotients stay so. One in some ten million is rounded the wrong way; where x or
  /// x / d is below 2^-100, up to 1.5 units in the last place are lost.
  Value divideByOne(ArrayRef<Value> operands, Value divisor) {
    Type f32 = b.getF32Type(), i32 = b.getI32Type();
    auto number = [&](double value) { return emitNumber(b, loc, f32, value); };
    auto compare = [&](arith::CmpFPredicate predicate, Value x, double value) -> Value {
      return make<arith::CmpFOp>(predicate, x, number(value));
    };
    Value size = make<math::AbsFOp>(divisor);
    // Where no part of the inverse is lost.
    Value isUsual = make<arith::AndIOp>(compare(arith::CmpFPredicate::OGE, size, 0x1p-60),
                                        compare(arith::CmpFPredicate::OLE, size, 0x1p60));
    Value nearest = make<arith::DivFOp>(number(1), divisor), minus = make<arith::NegFOp>(divisor);
    auto lacking = [&](Value x) -> Value { return make<math::FmaOp>(minus, x, number(1)); };
    Value isLarge = compare(arith::CmpFPredicate::OLT, lacking(nearest), 0);
    Value less = make<arith::SubIOp>(make<arith::BitcastOp>(i32, nearest),
                                     make<arith::ExtUIOp>(i32, isLarge));
    Value high = make<arith::BitcastOp>(f32, less), rest = lacking(high);
    Value isExact = compare(arith::CmpFPredicate::OEQ, rest, 0);
    Value low =
        make<arith::MulFOp>(high, Value(make<arith::SelectOp>(isExact, number(0x1p-40), rest)));
    Value wideHigh = asVector(high), wideLow = asVector(low);
    auto choice =
        scf::IfOp::create(b, loc, operands[0].getType(), isUsual, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(choice.thenBlock());
    Value correction = make<arith::MulFOp>(operands[0], wideLow);
    scf::YieldOp::create(b, loc, Value(make<math::FmaOp>(operands[0], wideHigh, correction)));
    b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b, loc, Value(make<arith::DivFOp>(operands[0], operands[1])));
    return choice.getResult(0);
  }

  //===--- conversions -----------------------------------------------------===//

  Value bitcast(Value value, Type element) { return make<arith::BitcastOp>(type(element), value); }

  Value widen(Value half) {
    if (getElementTypeOrSelf(half.getType()).isF16())
      return make<arith::ExtFOp>(type(b.getF32Type()), half);
    Value bits = make<arith::ExtUIOp>(type(b.getI32Type()), bitcast(half, b.getI16Type()));
    Value high = make<arith::ShLIOp>(bits, constant(b.getI32Type(), 16));
    return bitcast(high, b.getF32Type());
  }

  /// Rounds f32 to the nearest, ties to even.
  Value narrow(Value single, Type half) {
    if (half.isF16())
      return make<arith::TruncFOp>(type(half), single);
    Type i32 = b.getI32Type();
    Value bits = bitcast(single, i32);
    Value shift = constant(i32, 16);
    Value odd = make<arith::AndIOp>(make<arith::ShRUIOp>(bits, shift), constant(i32, 1));
    Value bias = make<arith::AddIOp>(odd, constant(i32, 0x7fff));
    Value rounded = make<arith::ShRUIOp>(make<arith::AddIOp>(bits, bias), shift);
    Value isNan = make<arith::CmpFOp>(arith::CmpFPredicate::UNO, single, single);
    rounded = select(isNan, constant(i32, 0x7fc0), rounded);
    return bitcast(make<arith::TruncIOp>(type(b.getI16Type()), rounded), half);
  }

  Value extend(Value value, Type element) {
    Type from = getElementTypeOrSelf(value.getType());
    if (isHalf(from)) {
      value = widen(value);
      from = b.getF32Type();
    }
    return from == element ? value : make<arith::ExtFOp>(type(element), value);
  }

  /// f64 goes to half precision through f32 rounded to odd, so that it is rounded once.
  Value truncate(Value value, Type element) {
    Type from = getElementTypeOrSelf(value.getType());
    if (!isHalf(element))
      return make<arith::TruncFOp>(type(element), value);
    if (from.isF64())
      value = roundToOdd(value);
    return narrow(value, element);
  }

  Value roundToOdd(Value wide) {
    Type i32 = b.getI32Type();
    Value near = make<arith::TruncFOp>(type(b.getF32Type()), wide);
    Value back = make<arith::ExtFOp>(type(b.getF64Type()), near);
    Value bits = bitcast(near, i32);
    Value isExact = make<arith::CmpFOp>(arith::CmpFPredicate::UEQ, back, wide);
    // Toward zero, then the last bit set: one less in magnitude if rounding went away from zero.
    Value size = make<math::AbsFOp>(wide), nearSize = make<math::AbsFOp>(back);
    Value isAbove = make<arith::CmpFOp>(arith::CmpFPredicate::OGT, nearSize, size);
    Value toward = select(isAbove, make<arith::SubIOp>(bits, constant(i32, 1)), bits);
    Value odd = make<arith::OrIOp>(toward, constant(i32, 1));
    return bitcast(select(isExact, bits, odd), b.getF32Type());
  }

  Value toInteger(Value value, Type element, bool isSigned) {
    value = isHalf(value.getType()) ? widen(value) : value;
    unsigned width = element.getIntOrFloatBitWidth();
    Type from = getElementTypeOrSelf(value.getType());
    double low = isSigned ? -std::ldexp(1.0, width - 1) : 0;
    double high = std::ldexp(1.0, isSigned ? width - 1 : width);
    APInt least = isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width);
    APInt most = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
    Value isLow = make<arith::CmpFOp>(arith::CmpFPredicate::OLE, value, constant(from, low));
    Value isHigh = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, value, constant(from, high));
    Value isNan = make<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
    Value isOut = make<arith::OrIOp>(make<arith::OrIOp>(isLow, isHigh), isNan);
    Value safe = select(isOut, constant(from, 0), value);
    Value plain = isSigned ? make<arith::FPToSIOp>(type(element), safe)
                           : make<arith::FPToUIOp>(type(element), safe);
    plain = select(isLow, integer(element, least), plain);
    return select(isHigh, integer(element, most), plain);
  }

  /// index is i64 here.
  Value castIndex(Value value, Type element, bool isSigned) {
    Type from = getElementTypeOrSelf(value.getType());
    if (from == element)
      return value;
    if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
      return make<arith::TruncIOp>(type(element), value);
    return isSigned ? make<arith::ExtSIOp>(type(element), value)
                    : make<arith::ExtUIOp>(type(element), value);
  }

  //===--- guarded integers ------------------------------------------------===//

  /// x / 0 = 0 and x mod 0 = 0; the least value by -1 gives itself, and 0.
  template <typename Op>
  Value divide(ArrayRef<Value> x, Type element, bool isSigned) {
    Value zero = constant(element, 0), one = constant(element, 1);
    Value byZero = compare(arith::CmpIPredicate::eq, x[1], zero);
    Value unsafe = byZero, overflows;
    if (isSigned) {
      Value least = integer(element, APInt::getSignedMinValue(element.getIntOrFloatBitWidth()));
      overflows =
          make<arith::AndIOp>(compare(arith::CmpIPredicate::eq, x[0], least),
                              compare(arith::CmpIPredicate::eq, x[1], constant(element, -1)));
      unsafe = make<arith::OrIOp>(byZero, overflows);
    }
    Value result = make<Op>(x[0], select(unsafe, one, x[1]));
    // The least value by 1 is itself, with the remainder 0: as it should be by -1.
    return select(byZero, zero, result);
  }

  template <typename Op>
  Value shift(ArrayRef<Value> x, Type element, bool keepsSign) {
    unsigned width = element.getIntOrFloatBitWidth();
    Value limit = constant(element, width);
    Value isIn = compare(arith::CmpIPredicate::ult, x[1], limit);
    if (keepsSign)
      return make<Op>(x[0], select(isIn, x[1], constant(element, width - 1)));
    Value shifted = make<Op>(x[0], select(isIn, x[1], constant(element, 0)));
    return select(isIn, shifted, constant(element, 0));
  }

  Value special(ArrayRef<Value> x, Type element) {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](tile::KeepOp) { return x[0]; })
        .Case([&](arith::ExtFOp) { return extend(x[0], element); })
        .Case([&](arith::TruncFOp) { return truncate(x[0], element); })
        .Case([&](arith::FPToSIOp) { return toInteger(x[0], element, true); })
        .Case([&](arith::FPToUIOp) { return toInteger(x[0], element, false); })
        .Case([&](arith::IndexCastOp) { return castIndex(x[0], element, true); })
        .Case([&](arith::IndexCastUIOp) { return castIndex(x[0], element, false); })
        .Case([&](arith::DivSIOp) { return divide<arith::DivSIOp>(x, element, true); })
        .Case([&](arith::DivUIOp) { return divide<arith::DivUIOp>(x, element, false); })
        .Case([&](arith::RemSIOp) { return divide<arith::RemSIOp>(x, element, true); })
        .Case([&](arith::RemUIOp) { return divide<arith::RemUIOp>(x, element, false); })
        .Case([&](arith::ShLIOp) { return shift<arith::ShLIOp>(x, element, false); })
        .Case([&](arith::ShRUIOp) { return shift<arith::ShRUIOp>(x, element, false); })
        .Case([&](arith::ShRSIOp) { return shift<arith::ShRSIOp>(x, element, true); })
        .Default([](Operation *) { return Value(); });
  }

  OpBuilder &b;
  Location loc;
  Operation *op;
  const ElementwiseFunctions *functions;
  int64_t lanes = 0; // 0: scalars
};

} // namespace

Value emitElementwise(OpBuilder &b, Location loc, Operation *op, ArrayRef<Value> operands,
                      const ElementwiseFunctions &functions) {
  return ElementwiseEmitter(b, loc, op, &functions).run(operands);
}

Value convertFloat(OpBuilder &b, Location loc, Value value, Type element) {
  if (!isa<FloatType>(element))
    return value;
  return ElementwiseEmitter(b, loc, nullptr, nullptr).convert(value, element);
}

Type scalarType(Type type) {
  return type.isIndex() ? IntegerType::get(type.getContext(), 64) : type;
}

Value emitNumber(OpBuilder &b, Location loc, Type type, double number) {
  TypedAttr attribute;
  if (isa<FloatType>(type))
    attribute = b.getFloatAttr(type, number);
  else
    attribute = b.getIntegerAttr(type, int64_t(number));
  return arith::ConstantOp::create(b, loc, attribute);
}

Value splat(OpBuilder &b, Location loc, Value scalar, int64_t lanes) {
  auto type = VectorType::get(lanes, scalar.getType());
  Attribute attribute;
  if (matchPattern(scalar, m_Constant(&attribute)))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, attribute));
  if (isa<FloatType>(scalar.getType()) && scalar.getType().getIntOrFloatBitWidth() == 16) {
    // Without a vector unit for it, LLVM takes vectors of bf16 apart.
    Value bits = splat(b, loc, arith::BitcastOp::create(b, loc, b.getI16Type(), scalar), lanes);
    return arith::BitcastOp::create(b, loc, type, bits);
  }
  return vector::BroadcastOp::create(b, loc, type, scalar);
}

} // namespace tw::target
