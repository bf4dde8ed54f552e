// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar operations: the bodies of structured operations and the index arithmetic around them. They
// are repeated with these changes: index is i64; f16 and bf16 are computed in f32 and rounded (LLVM
// would call compiler-rt); transcendental functions are calls of libm; integer division never
// traps; positions from data are checked.
#include "IR/Coded.h"
#include "IR/Graph/Graph.h"
#include "Target/Libm.h"
#include "Target/Reference/Emitter.h"
#include "Target/SafeDivisor.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tw::target::reference {

using Values = SmallVector<Value>;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

Type Emitter::scalarType(Type type) {
  return type.isIndex() ? IntegerType::get(type.getContext(), 64) : type;
}

Value Emitter::constant(Type type, double number) {
  if (auto real = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(real, number));
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, int64_t(number)));
}

Value Emitter::widen(Value half) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  if (half.getType().isF16())
    return arith::ExtFOp::create(b, loc, f32, half);
  Value bits = arith::BitcastOp::create(b, loc, b.getI16Type(), half);
  bits = arith::ExtUIOp::create(b, loc, i32, bits);
  bits = arith::ShLIOp::create(b, loc, bits, constant(i32, 16));
  return arith::BitcastOp::create(b, loc, f32, bits);
}

/// f32 to bf16: to the nearest, ties to even; a NaN stays a quiet NaN.
static Value roundToBf16(Emitter &e, Value single) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type i32 = b.getI32Type();
  Value bits = arith::BitcastOp::create(b, loc, i32, single);
  Value high = arith::ShRUIOp::create(b, loc, bits, e.constant(i32, 16));
  Value odd = arith::AndIOp::create(b, loc, high, e.constant(i32, 1));
  Value bias = arith::AddIOp::create(b, loc, odd, e.constant(i32, 0x7fff));
  Value rounded = arith::AddIOp::create(b, loc, bits, bias);
  rounded = arith::ShRUIOp::create(b, loc, rounded, e.constant(i32, 16));
  Value quiet = arith::OrIOp::create(b, loc, high, e.constant(i32, 0x40));
  Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, single, single);
  Value chosen = arith::SelectOp::create(b, loc, isNan, quiet, rounded);
  Value word = arith::TruncIOp::create(b, loc, b.getI16Type(), chosen);
  return arith::BitcastOp::create(b, loc, b.getBF16Type(), word);
}

Value Emitter::narrow(Value single, Type half) {
  if (half.isF16())
    return arith::TruncFOp::create(b, loc, half, single);
  return roundToBf16(*this, single);
}

static Value convertFloat(Emitter &e, Value value, Type to) {
  if (isHalf(value.getType()))
    value = e.widen(value);
  unsigned from = value.getType().getIntOrFloatBitWidth();
  Type full = isHalf(to) ? Type(e.b.getF32Type()) : to;
  if (from < full.getIntOrFloatBitWidth())
    value = arith::ExtFOp::create(e.b, e.loc, full, value);
  else if (from > full.getIntOrFloatBitWidth())
    value = arith::TruncFOp::create(e.b, e.loc, full, value);
  return isHalf(to) ? e.narrow(value, to) : value;
}

Value Emitter::convert(Value value, Type to, bool isSigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (fromFloat && toFloat)
    return convertFloat(*this, value, to);
  if (fromFloat) {
    if (isHalf(from))
      value = widen(value);
    if (isSigned)
      return arith::FPToSIOp::create(b, loc, to, value);
    return arith::FPToUIOp::create(b, loc, to, value);
  }
  if (toFloat) {
    Type full = isHalf(to) ? Type(b.getF32Type()) : to;
    value = isSigned ? arith::SIToFPOp::create(b, loc, full, value).getResult()
                     : arith::UIToFPOp::create(b, loc, full, value).getResult();
    return isHalf(to) ? narrow(value, to) : value;
  }
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (fromBits > toBits)
    return arith::TruncIOp::create(b, loc, to, value);
  if (isSigned)
    return arith::ExtSIOp::create(b, loc, to, value);
  return arith::ExtUIOp::create(b, loc, to, value);
}

/// Rounding division: the quotient toward zero, corrected where the remainder is not zero and the
/// signs differ (floor) or agree (ceil).
static Value roundedDivision(Emitter &e, Value lhs, Value rhs, bool up) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Value zero = e.constant(lhs.getType(), 0), one = e.constant(lhs.getType(), 1);
  rhs = safeDivisor(e.b, e.loc, lhs, rhs, true);
  Value quotient = arith::DivSIOp::create(b, loc, lhs, rhs);
  Value product = arith::MulIOp::create(b, loc, quotient, rhs);
  Value inexact = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, product, lhs);
  Value signs = arith::XOrIOp::create(b, loc, lhs, rhs);
  Value fits = arith::CmpIOp::create(
      b, loc, up ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt, signs, zero);
  Value corrected = up ? arith::AddIOp::create(b, loc, quotient, one).getResult()
                       : arith::SubIOp::create(b, loc, quotient, one).getResult();
  Value correct = arith::AndIOp::create(b, loc, inexact, fits);
  return arith::SelectOp::create(b, loc, correct, corrected, quotient);
}

static Value ceilDivUnsigned(Emitter &e, Value lhs, Value rhs) {
  OpBuilder &b = e.b;
  rhs = safeDivisor(e.b, e.loc, lhs, rhs, false);
  Value quotient = arith::DivUIOp::create(b, e.loc, lhs, rhs);
  Value product = arith::MulIOp::create(b, e.loc, quotient, rhs);
  Value inexact = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ne, product, lhs);
  return arith::AddIOp::create(b, e.loc, quotient,
                               arith::ExtUIOp::create(b, e.loc, lhs.getType(), inexact));
}

/// base^exponent for integers, as repeated squaring; a negative exponent gives what integer
/// division of 1 gives.
static Value integerPower(Emitter &e, Value base, Value exponent) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type type = base.getType();
  Value zero = e.constant(type, 0), one = e.constant(type, 1);
  unsigned bits = type.getIntOrFloatBitWidth();
  Values result =
      e.loop(0, int64_t(bits), 1, {one, base, exponent}, [&](Ix, ArrayRef<Value> state) -> Values {
        Value odd = arith::TruncIOp::create(b, loc, b.getI1Type(), state[2]);
        Value times = arith::MulIOp::create(b, loc, state[0], state[1]);
        return {arith::SelectOp::create(b, loc, odd, times, state[0]),
                arith::MulIOp::create(b, loc, state[1], state[1]),
                arith::ShRUIOp::create(b, loc, state[2], one)};
      });
  auto isEqual = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  };
  Value minusOne = e.constant(type, -1);
  Value parity = arith::AndIOp::create(b, loc, exponent, one);
  Value sign = arith::SelectOp::create(b, loc, isEqual(parity, zero), one, minusOne);
  Value small = arith::SelectOp::create(b, loc, isEqual(base, minusOne), sign, zero);
  small = arith::SelectOp::create(b, loc, isEqual(base, one), one, small);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, exponent, zero);
  return arith::SelectOp::create(b, loc, negative, small, result[0]);
}

/// The same operation on other values. Floating-point operations on halves are done in f32.
static Values repeat(Emitter &e, Operation *op, ArrayRef<Value> operands) {
  bool half = llvm::any_of(operands, [](Value v) { return isHalf(v.getType()); }) &&
              !isa<arith::SelectOp, arith::BitcastOp>(op);
  Values inputs(operands);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(half && isHalf(type) ? e.b.getF32Type() : Emitter::scalarType(type));
  if (half)
    for (Value &input : inputs)
      input = isHalf(input.getType()) ? e.widen(input) : input;
  OperationState state(e.loc, op->getName(), inputs, types, op->getAttrs());
  Operation *copy = e.b.create(state);
  Values results;
  for (auto [result, type] : llvm::zip(copy->getResults(), op->getResultTypes()))
    results.push_back(half && isHalf(type) ? e.narrow(result, type) : result);
  return results;
}

static Value libmCall(Emitter &e, Operation *op, StringRef name, ArrayRef<Value> operands) {
  Type type = op->getResult(0).getType();
  Values inputs(operands);
  for (Value &input : inputs)
    input = isHalf(type) ? e.widen(input) : input;
  Value result = callLibm(e.b, e.loc, name, inputs, e.imports);
  return isHalf(type) ? e.narrow(result, type) : result;
}

static Attribute constantAttr(arith::ConstantOp op) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue()); integer && op.getType().isIndex())
    return IntegerAttr::get(IntegerType::get(op.getContext(), 64), integer.getInt());
  return op.getValue();
}

/// A value of an affine expression.
static Ix affineValue(Emitter &e, AffineExpr expr, ArrayRef<Ix> dims, ArrayRef<Ix> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Ix lhs = affineValue(e, binary.getLHS(), dims, symbols);
  Ix rhs = affineValue(e, binary.getRHS(), dims, symbols);
  IndexBuilder ix = e.ix();
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return ix.add(lhs, rhs);
  case AffineExprKind::Mul:
    return ix.mul(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return roundedDivision(e, ix.value(lhs), ix.value(rhs), true);
  default:
    break;
  }
  Ix floor = roundedDivision(e, ix.value(lhs), ix.value(rhs), false);
  return expr.getKind() == AffineExprKind::FloorDiv ? floor : ix.sub(lhs, ix.mul(floor, rhs));
}

Ix affineIndex(Emitter &e, AffineExpr expr, ArrayRef<Ix> dims) {
  return affineValue(e, expr, dims, {});
}

static Value affineOp(Emitter &e, AffineMap map, ArrayRef<Value> operands, int extremum) {
  Indices all(operands.begin(), operands.end());
  ArrayRef<Ix> dims = ArrayRef(all).take_front(map.getNumDims());
  ArrayRef<Ix> symbols = ArrayRef(all).drop_front(map.getNumDims());
  Ix result = affineValue(e, map.getResult(0), dims, symbols);
  for (AffineExpr expr : map.getResults().drop_front()) {
    Ix other = affineValue(e, expr, dims, symbols);
    result = extremum < 0 ? e.ix().min(result, other) : e.ix().max(result, other);
  }
  return e.ix().value(result);
}

FailureOr<Values> Emitter::checkIndex(Operation *op, Value index, Value bound) {
  auto check = cast<graph::CheckIndexOp>(op);
  std::string message = check.getMessage().str();
  auto it = llvm::find(failures, message);
  int64_t number = it - failures.begin() + 1;
  if (it == failures.end())
    failures.push_back(message);
  Value good = ix().inside(index, bound);
  Value bad = arith::XOrIOp::create(b, loc, good, constant(b.getI1Type(), 1));
  ifThen(bad, [&] {
    Type i64 = b.getI64Type();
    Buffer record{failureRecord, 0, {Ix(3)}, {Ix(1)}, i64, 0};
    auto exchange = LLVM::AtomicCmpXchgOp::create(
        b, loc, failureRecord, constant(i64, 0), constant(i64, number),
        LLVM::AtomicOrdering::monotonic, LLVM::AtomicOrdering::monotonic);
    Value first = LLVM::ExtractValueOp::create(b, loc, exchange.getResult(), 1);
    ifThen(first, [&] {
      store(index, record, 1);
      store(bound, record, 2);
    });
  });
  return Values{arith::SelectOp::create(b, loc, good, index, constant(b.getI64Type(), 0))};
}

/// scf.if and scf.for of scalars, and other operations with regions.
static FailureOr<Values> branch(Emitter &e, scf::IfOp op, Value condition, const BodyScope &scope) {
  SmallVector<Type> types(llvm::map_range(op.getResultTypes(), Emitter::scalarType));
  auto copy = scf::IfOp::create(e.b, e.loc, types, condition, !op.getElseRegion().empty());
  auto fill = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(e.b);
    if (types.empty())
      e.b.setInsertionPointToStart(to);
    else
      e.b.setInsertionPointToEnd(to);
    FailureOr<Values> yielded = e.body(*from, {}, scope);
    if (succeeded(yielded) && !types.empty())
      scf::YieldOp::create(e.b, e.loc, *yielded);
    return yielded;
  };
  if (failed(fill(op.thenBlock(), copy.thenBlock())) ||
      (op.elseBlock() && failed(fill(op.elseBlock(), copy.elseBlock()))))
    return failure();
  return Values(copy.getResults());
}

static FailureOr<Values> repeatLoop(Emitter &e, scf::ForOp op, ArrayRef<Value> operands,
                                    const BodyScope &scope) {
  bool failedInside = false;
  Values results =
      e.loop(operands[0], operands[1], operands[2], operands.drop_front(3),
             [&](Ix i, ArrayRef<Value> carried) -> Values {
               Values arguments{
                   e.convert(e.ix().value(i), Emitter::scalarType(op.getInductionVar().getType()))};
               arguments.append(carried.begin(), carried.end());
               FailureOr<Values> next = e.body(*op.getBody(), arguments, scope);
               failedInside |= failed(next);
               return succeeded(next) ? *next : Values(carried);
             });
  if (failedInside)
    return failure();
  return results;
}

static FailureOr<Value> extract(Emitter &e, tensor::ExtractOp op, ArrayRef<Value> indices) {
  const Buffer &buffer = e.buffer(op.getTensor());
  return e.load(buffer, e.linear(buffer, Indices(indices.begin(), indices.end())));
}

FailureOr<Values> Emitter::scalarOp(Operation *op, ArrayRef<Value> operands,
                                    const BodyScope &scope) {
  using Result = FailureOr<Values>;
  auto one = [](Value v) { return Result(Values{v}); };
  if (StringRef name = libmName(op); !name.empty())
    return one(libmCall(*this, op, name, operands));
  if (StringRef name = intrinsicImport(op); !name.empty())
    imports.insert((name + (op->getResult(0).getType().isF64() ? "" : "f")).str());
  auto indexAt = [&](uint64_t dim) { return one(ix().value(scope.indices[dim])); };
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp o) {
        return one(arith::ConstantOp::create(b, loc, cast<TypedAttr>(constantAttr(o))));
      })
      .Case([&](linalg::IndexOp o) { return indexAt(o.getDim()); })
      .Case([&](graph::IndexOp o) { return indexAt(o.getDim()); })
      .Case([&](graph::CheckIndexOp o) { return checkIndex(o, operands[0], operands[1]); })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp, arith::ExtSIOp,
            arith::IndexCastOp, arith::TruncIOp>([&](Operation *o) {
        return one(convert(operands[0], scalarType(o->getResultTypes()[0])));
      })
      .Case<arith::UIToFPOp, arith::FPToUIOp, arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](Operation *o) {
            return one(convert(operands[0], scalarType(o->getResultTypes()[0]), false));
          })
      .Case<arith::DivSIOp, arith::RemSIOp>([&](Operation *o) {
        return Result(
            repeat(*this, o, {operands[0], safeDivisor(b, loc, operands[0], operands[1], true)}));
      })
      .Case<arith::DivUIOp, arith::RemUIOp>([&](Operation *o) {
        return Result(
            repeat(*this, o, {operands[0], safeDivisor(b, loc, operands[0], operands[1], false)}));
      })
      .Case([&](arith::FloorDivSIOp) {
        return one(roundedDivision(*this, operands[0], operands[1], false));
      })
      .Case([&](arith::CeilDivSIOp) {
        return one(roundedDivision(*this, operands[0], operands[1], true));
      })
      .Case(
          [&](arith::CeilDivUIOp) { return one(ceilDivUnsigned(*this, operands[0], operands[1])); })
      .Case([&](math::IPowIOp) { return one(integerPower(*this, operands[0], operands[1])); })
      .Case([&](math::FPowIOp o) {
        Values inputs{operands[0], convert(operands[1], operands[0].getType())};
        return one(libmCall(*this, o, "pow", inputs));
      })
      .Case([&](math::SincosOp o) {
        return Result(
            Values{libmCall(*this, o, "sin", operands), libmCall(*this, o, "cos", operands)});
      })
      .Case([&](affine::AffineApplyOp o) { return one(affineOp(*this, o.getMap(), operands, 0)); })
      .Case([&](affine::AffineMinOp o) { return one(affineOp(*this, o.getMap(), operands, -1)); })
      .Case([&](affine::AffineMaxOp o) { return one(affineOp(*this, o.getMap(), operands, 1)); })
      .Case([&](tensor::ExtractOp o) -> Result {
        return one(*extract(*this, o, operands.drop_front()));
      })
      .Case([&](tensor::DimOp o) -> Result {
        std::optional<int64_t> dim = o.getConstantIndex();
        FailureOr<Ix> found = dim ? size(o.getSource(), *dim) : FailureOr<Ix>();
        if (failed(found))
          return emitCoded(o.getLoc(), Code::TARGET_2)
                 << "the reference target cannot tell this size";
        return one(ix().value(*found));
      })
      .Case([&](scf::IfOp o) { return branch(*this, o, operands[0], scope); })
      .Case([&](scf::ForOp o) { return repeatLoop(*this, o, operands, scope); })
      .Default([&](Operation *o) -> Result {
        if (o->getNumRegions() ||
            !isa_and_nonnull<arith::ArithDialect, math::MathDialect, ub::UBDialect>(
                o->getDialect()))
          return emitCoded(o->getLoc(), Code::TARGET_2)
                 << "the reference target cannot do the scalar operation "
                 << o->getName().getStringRef();
        return Result(repeat(*this, o, operands));
      });
}

FailureOr<Values> Emitter::body(Block &block, ArrayRef<Value> arguments, const BodyScope &scope) {
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    scalars[argument] = value;
  for (Operation &op : block.without_terminator()) {
    Values operands;
    for (Value operand : op.getOperands()) {
      FailureOr<Value> known = isa<TensorType>(operand.getType()) ? Value() : scalar(operand);
      if (failed(known))
        return failure();
      operands.push_back(*known);
    }
    FailureOr<Values> results = scalarOp(&op, operands, scope);
    if (failed(results))
      return failure();
    if (&op == scope.reduction)
      if (Operation *combined = (*results)[0].getDefiningOp())
        if (auto fast = dyn_cast<arith::ArithFastMathInterface>(combined))
          combined->setAttr(
              fast.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::reassoc));
    for (auto [result, value] : llvm::zip(op.getResults(), *results))
      scalars[result] = value;
  }
  Values yielded;
  for (Value operand : block.getTerminator()->getOperands()) {
    FailureOr<Value> value = scalar(operand);
    if (failed(value))
      return failure();
    yielded.push_back(*value);
  }
  return yielded;
}

} // namespace tw::target::reference
