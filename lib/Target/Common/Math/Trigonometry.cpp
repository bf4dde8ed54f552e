// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sin, cos and tan of f32: the argument is reduced in f64 by a multiple of pi / 2 in two parts
// (Cody and Waite, "Software Manual for the Elementary Functions", 1980), of which the first
// product is exact: below 2^45 the rest has 30 bits and more, as no float is near to a multiple.
// Sine and cosine of the rest are polynomials with relative errors of 2^-37 and 2^-33.
#include "Target/Common/Math/Trigonometry.h"
#include "Target/Common/Math/FloatBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::target {
namespace {

constexpr double mostReduced = 0x1p45;
/// Added to a number below 2^51, it leaves the nearest integer in the low bits.
constexpr double magic = 0x1.8p52;
constexpr double twoByPi = 0x1.45f306dc9c883p-1;
constexpr double halfPi = 0x1.921fb54442d18p+0, halfPiRest = 0x1.1a62633145c07p-54;

Value compute(FloatBuilder &f, Trigonometric function, Value x) {
  Value wide = f.widen(x), sum = f.fma(wide, f.number(twoByPi), f.number(magic));
  Value count = f.sub(sum, f.number(magic));
  Value rest = f.fma(count, f.number(-halfPiRest), f.fma(count, f.number(-halfPi), wide));
  Value quarters = f.bits(sum);
  if (function == Trigonometric::Cosine)
    quarters = f.make<arith::AddIOp>(quarters, f.integer(1));
  Value square = f.mul(rest, rest);
  Value sine = f.mul(rest, f.polynomial(square, {1, -0.1666666663864099, 0.008333329056088043,
                                                 -0.0001983923265923479, 2.7173666990616064e-06}));
  Value cosine = f.polynomial(square, {1, -0.4999999966846942, 0.0416666174470787,
                                       -0.0013886590548944154, 2.4375071794751533e-05});
  Value isOdd = f.hasBit(quarters, 1), value = f.select(isOdd, cosine, sine);
  bool isTangent = function == Trigonometric::Tangent;
  if (isTangent)
    value = f.div(value, f.select(isOdd, sine, cosine));
  Value isNegative = f.hasBit(quarters, isTangent ? 1 : 2);
  return f.narrow(f.select(isNegative, f.neg(value), value));
}

/// Whether a number of `x` is too large; that is rare.
Value isAnyLarge(OpBuilder &b, Location loc, Value x) {
  Value size = math::AbsFOp::create(b, loc, x);
  TypedAttr limit = b.getF32FloatAttr(mostReduced);
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    limit = DenseElementsAttr::get(vector, Attribute(limit));
  Value most = arith::ConstantOp::create(b, loc, limit);
  Value is = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, size, most);
  if (isa<VectorType>(is.getType()))
    is = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, is);
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
  FloatBuilder f(b, loc, x.getType(), b.getF64Type());
  scf::YieldOp::create(b, loc, compute(f, function, x));
  return choice.getResult(0);
}

} // namespace tw::target
