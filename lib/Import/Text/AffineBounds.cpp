// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Text/AffineBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
namespace tw::text {
namespace {

class Bounding {
public:
  Bounding(ValueRange last, OpBuilder &b, Location loc) : last(last), b(b), loc(loc) {}

  AffineBounds of(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return {index(constant.getValue()), index(constant.getValue())};
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return {index(0), last[dim.getPosition()]};
    auto binary = cast<AffineBinaryOpExpr>(expr);
    AffineBounds left = of(binary.getLHS()), right = of(binary.getRHS());
    if (expr.getKind() == AffineExprKind::Add)
      return {make<arith::AddIOp>(left.least, right.least),
              make<arith::AddIOp>(left.most, right.most)};
    // Of the other operations the right side is a constant, of divisions a positive one.
    if (expr.getKind() == AffineExprKind::Mod)
      return remainder(left, right.most);
    bool turns = expr.getKind() == AffineExprKind::Mul &&
                 cast<AffineConstantExpr>(binary.getRHS()).getValue() < 0;
    AffineBounds bounds{apply(expr.getKind(), left.least, right.most),
                        apply(expr.getKind(), left.most, right.most)};
    if (turns)
      std::swap(bounds.least, bounds.most);
    return bounds;
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  template <typename Op>
  Value make(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }

  Value apply(AffineExprKind kind, Value x, Value y) {
    if (kind == AffineExprKind::Mul)
      return make<arith::MulIOp>(x, y);
    return kind == AffineExprKind::FloorDiv ? make<arith::FloorDivSIOp>(x, y)
                                            : make<arith::CeilDivSIOp>(x, y);
  }

  /// A number that is not negative leaves itself at most.
  AffineBounds remainder(const AffineBounds &x, Value divisor) {
    Value most = make<arith::SubIOp>(divisor, index(1));
    if (auto least = getConstantIntValue(x.least); least && *least >= 0)
      most = make<arith::MinSIOp>(most, x.most);
    return {index(0), most};
  }

  ValueRange last;
  OpBuilder &b;
  Location loc;
};

} // namespace

AffineBounds affineBounds(AffineExpr expr, ValueRange last, OpBuilder &b, Location loc) {
  return Bounding(last, b, loc).of(expr);
}

} // namespace tw::text
