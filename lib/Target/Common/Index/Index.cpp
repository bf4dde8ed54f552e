// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Index/Index.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tw::target;

Ix Ix::of(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return value;
}

Value IndexBuilder::value(const Ix &x) {
  if (x.dynamic())
    return x.dynamic();
  return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(*x.constant()));
}

Ix IndexBuilder::add(const Ix &a, const Ix &b) {
  if (a.isConstant() && b.isConstant())
    return *a.constant() + *b.constant();
  if (a.is(0))
    return b;
  if (b.is(0))
    return a;
  return arith::AddIOp::create(builder, loc, value(a), value(b)).getResult();
}

Ix IndexBuilder::sub(const Ix &a, const Ix &b) {
  if (a.isConstant() && b.isConstant())
    return *a.constant() - *b.constant();
  if (b.is(0))
    return a;
  if (a.same(b))
    return 0;
  return arith::SubIOp::create(builder, loc, value(a), value(b)).getResult();
}

Ix IndexBuilder::mul(const Ix &a, const Ix &b) {
  if (a.isConstant() && b.isConstant())
    return *a.constant() * *b.constant();
  if (a.is(0) || b.is(0))
    return 0;
  if (a.is(1))
    return b;
  if (b.is(1))
    return a;
  return arith::MulIOp::create(builder, loc, value(a), value(b)).getResult();
}

Ix IndexBuilder::min(const Ix &a, const Ix &b) {
  if (a.isConstant() && b.isConstant())
    return std::min(*a.constant(), *b.constant());
  if (a.same(b))
    return a;
  return arith::MinSIOp::create(builder, loc, value(a), value(b)).getResult();
}

Ix IndexBuilder::max(const Ix &a, const Ix &b) {
  if (a.isConstant() && b.isConstant())
    return std::max(*a.constant(), *b.constant());
  if (a.same(b))
    return a;
  return arith::MaxSIOp::create(builder, loc, value(a), value(b)).getResult();
}

Ix IndexBuilder::div(const Ix &a, const Ix &b) {
  if (b.is(1))
    return a;
  if (a.isConstant() && b.isConstant() && *b.constant() > 0)
    return *a.constant() / *b.constant();
  return arith::DivUIOp::create(builder, loc, value(a), value(b)).getResult();
}

Ix IndexBuilder::rem(const Ix &a, const Ix &b) {
  if (b.is(1))
    return 0;
  if (a.isConstant() && b.isConstant() && *b.constant() > 0)
    return *a.constant() % *b.constant();
  return arith::RemUIOp::create(builder, loc, value(a), value(b)).getResult();
}

Ix IndexBuilder::product(llvm::ArrayRef<Ix> factors) {
  Ix result = 1;
  for (const Ix &factor : factors)
    result = mul(result, factor);
  return result;
}

Value IndexBuilder::less(const Ix &a, const Ix &b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value(a), value(b));
}

Value IndexBuilder::inside(const Ix &a, const Ix &bound) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, value(a), value(bound));
}

Value IndexBuilder::equal(const Ix &a, const Ix &b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value(a), value(b));
}

Ix IndexBuilder::select(Value condition, const Ix &a, const Ix &b) {
  if (a.same(b))
    return a;
  return arith::SelectOp::create(builder, loc, condition, value(a), value(b)).getResult();
}

Ix IndexBuilder::affine(AffineExpr expr, ArrayRef<Ix> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Ix lhs = affine(binary.getLHS(), dims), rhs = affine(binary.getRHS(), dims);
  if (expr.getKind() == AffineExprKind::Add)
    return add(lhs, rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return mul(lhs, rhs);
  Value x = value(lhs), y = value(rhs);
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return arith::CeilDivSIOp::create(builder, loc, x, y).getResult();
  Ix quotient = arith::FloorDivSIOp::create(builder, loc, x, y).getResult();
  return expr.getKind() == AffineExprKind::FloorDiv ? quotient : sub(lhs, mul(quotient, rhs));
}

Indices IndexBuilder::affine(AffineMap map, ArrayRef<Ix> dims) {
  return Indices(
      llvm::map_range(map.getResults(), [&](AffineExpr expr) { return affine(expr, dims); }));
}
