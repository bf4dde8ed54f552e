// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Operations/SafeDivisor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

Value tw::target::safeDivisor(OpBuilder &b, Location loc, Value lhs, Value rhs, bool isSigned) {
  APInt known;
  if (matchPattern(rhs, m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes())
    return rhs;
  Type type = rhs.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  auto number = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  auto equal = [&](Value x, const APInt &value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, number(value));
  };
  Value bad = equal(rhs, APInt::getZero(bits));
  if (isSigned) {
    Value overflow = arith::AndIOp::create(b, loc, equal(lhs, APInt::getSignedMinValue(bits)),
                                           equal(rhs, APInt::getAllOnes(bits)));
    bad = arith::OrIOp::create(b, loc, bad, overflow);
  }
  return arith::SelectOp::create(b, loc, bad, number(APInt(bits, 1)), rhs);
}
