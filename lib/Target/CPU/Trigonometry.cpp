// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sin, cos and tan of f32: the argument is reduced in f64 by a multiple of pi / 2 in two parts
// (Cody and Waite, "Software Manual for the Elementary Functions", 1980), of which the first
// product is exact: below 2^45 the rest has 30 bits and more, as no float is near to a multiple.
// Sine and cosine of the rest are polynomials with relative errors of 2^-37 and 2^-33.
#include "Target/CPU/Trigonometry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::target::cpu {
namespace {

constexpr double mostReduced = 0x1p45;
/// Added to a number below 2^51, it leaves the nearest integer in the low bits.
constexpr double magic = 0x1.8p52;
constexpr double twoByPi = 0x1.45f306dc9c883p-1;
constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiRest = 0x1.1a62633145c07p-54;

class F64 {
public:
  F64(OpBuilder &b, Location loc, Type like) : b(b), loc(loc) {
    auto vector = dyn_cast<VectorType>(like);
    auto of = [&](Type element) {
      return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
    };
    type = of(b.getF64Type()), bits = of(b.getI64Type());
  }

  Value run(Trigonometric function, Value x) {
    Value wide = arith::ExtFOp::create(b, loc, type, x);
    Value sum = fma(wide, number(twoByPi), number(magic));
    Value count = arith::SubFOp::create(b, loc, sum, number(magic));
    Value rest = fma(count, number(-halfPiRest), fma(count, number(-halfPi), wide));
    Value quarters = arith::BitcastOp::create(b, loc, bits, sum);
    if (function == Trigonometric::Cosine)
      quarters = arith::AddIOp::create(b, loc, quarters, integer(1));
    Value square = mul(rest, rest);
    Value sine = mul(rest, polynomial(square, {1, -0.1666666663864099, 0.008333329056088043,
                                               -0.0001983923265923479, 2.7173666990616064e-06}));
    Value cosine = polynomial(square, {1, -0.4999999966846942, 0.0416666174470787,
                                       -0.0013886590548944154, 2.4375071794751533e-05});
    Value isOdd = hasBit(quarters, 1);
    Value value = select(isOdd, cosine, sine);
    bool isTangent = function == Trigonometric::Tangent;
    if (isTangent)
      value = arith::DivFOp::create(b, loc, value, select(isOdd, sine, cosine));
    Value isNegative = hasBit(quarters, isTangent ? 1 : 2);
    value = select(isNegative, arith::NegFOp::create(b, loc, value), value);
    return arith::TruncFOp::create(b, loc, x.getType(), value);
  }

private:
  Value splat(Type type, Attribute value) {
    auto vector = dyn_cast<VectorType>(type);
    return arith::ConstantOp::create(
        b, loc, vector ? TypedAttr(DenseElementsAttr::get(vector, value)) : cast<TypedAttr>(value));
  }
  Value number(double value) { return splat(type, b.getF64FloatAttr(value)); }
  Value integer(int64_t value) { return splat(bits, b.getI64IntegerAttr(value)); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  Value hasBit(Value x, int64_t bit) {
    Value masked = arith::AndIOp::create(b, loc, x, integer(bit));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, masked, integer(0));
  }
  /// c[0] + c[1] x + ...
  Value polynomial(Value x, ArrayRef<double> c) {
    Value sum = number(c.back());
    for (double next : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, number(next));
    return sum;
  }

  OpBuilder &b;
  Location loc;
  Type type, bits;
};

/// Whether a number of `x` is too large; that is rare.
Value isAnyLarge(OpBuilder &b, Location loc, Value x) {
  Value size = math::AbsFOp::create(b, loc, x);
  TypedAttr limit = b.getF32FloatAttr(mostReduced);
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    limit = DenseElementsAttr::get(vector, Attribute(limit));
  Value most = arith::ConstantOp::create(b, loc, limit);
  Value is = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, size, most);
  if (isa<VectorType>(is.getType()))
    is = LLVM::vector_reduce_or::create(b, loc, b.getI1Type(), is);
  Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  return LLVM::ExpectOp::create(b, loc, is, no);
}

} // namespace

std::optional<Trigonometric> trigonometricOf(StringRef name, Type type) {
  static const llvm::StringMap<Trigonometric> functions = {{"sin", Trigonometric::Sine},
                                                           {"cos", Trigonometric::Cosine},
                                                           {"tan", Trigonometric::Tangent}};
  auto found = functions.find(name);
  if (found == functions.end() || !getElementTypeOrSelf(type).isF32())
    return std::nullopt;
  return found->second;
}

Value emitTrigonometric(OpBuilder &b, Location loc, Trigonometric function, Value x,
                        llvm::function_ref<Value()> byCalls) {
  auto choice =
      scf::IfOp::create(b, loc, x.getType(), isAnyLarge(b, loc, x), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, byCalls());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, F64(b, loc, x.getType()).run(function, x));
  return choice.getResult(0);
}

} // namespace tw::target::cpu
