// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic in f32 or f64 on a scalar or the lanes of a vector, and on their bits.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tw::target {

class FloatBuilder {
public:
  /// Computes in `element`, which is f32 or f64; `like` is a scalar or a vector.
  FloatBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type like, mlir::FloatType element)
      : b(b), loc(loc), element(element), bitsElement(b.getIntegerType(element.getWidth())) {
    auto vector = llvm::dyn_cast<mlir::VectorType>(like);
    auto of = [&](mlir::Type one) {
      return vector ? mlir::Type(mlir::VectorType::get(vector.getShape(), one)) : one;
    };
    type = of(element), bitsType = of(bitsElement), narrowType = of(b.getF32Type());
  }

  mlir::Value number(double value) { return splat(type, b.getFloatAttr(element, value)); }
  mlir::Value integer(int64_t value) {
    return splat(bitsType, b.getIntegerAttr(bitsElement, value));
  }

  mlir::Value widen(mlir::Value x) { return mlir::arith::ExtFOp::create(b, loc, type, x); }
  mlir::Value narrow(mlir::Value x) { return mlir::arith::TruncFOp::create(b, loc, narrowType, x); }

  mlir::Value add(mlir::Value x, mlir::Value y) { return make<mlir::arith::AddFOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return make<mlir::arith::SubFOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return make<mlir::arith::MulFOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return make<mlir::arith::DivFOp>(x, y); }
  mlir::Value neg(mlir::Value x) { return make<mlir::arith::NegFOp>(x); }
  mlir::Value abs(mlir::Value x) { return make<mlir::math::AbsFOp>(x); }
  mlir::Value sqrt(mlir::Value x) { return make<mlir::math::SqrtOp>(x); }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) {
    return make<mlir::math::FmaOp>(x, y, z);
  }
  mlir::Value copySign(mlir::Value x, mlir::Value sign) {
    return make<mlir::math::CopySignOp>(x, sign);
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::SelectOp>(condition, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y) {
    return make<mlir::arith::CmpFOp>(predicate, x, y);
  }
  mlir::Value less(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpFPredicate::OLT, x, y);
  }
  mlir::Value equal(mlir::Value x, mlir::Value y) {
    return compare(mlir::arith::CmpFPredicate::OEQ, x, y);
  }
  mlir::Value isNot(mlir::Value condition) {
    mlir::Type type = condition.getType();
    auto all = b.getIntegerAttr(getElementTypeOrSelf(type), 1);
    return make<mlir::arith::XOrIOp>(condition, splat(type, all));
  }
  /// x within [low, high]; NaN stays.
  mlir::Value clamp(mlir::Value x, double low, double high) {
    mlir::Value least = number(low), most = number(high);
    x = select(less(x, least), least, x);
    return select(less(most, x), most, x);
  }
  /// c[0] + c[1] x + ...
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> c) {
    mlir::Value sum = number(c.back());
    for (double next : llvm::reverse(c.drop_back()))
      sum = fma(sum, x, number(next));
    return sum;
  }

  mlir::Value bits(mlir::Value x) { return mlir::arith::BitcastOp::create(b, loc, bitsType, x); }
  mlir::Value fromBits(mlir::Value x) { return mlir::arith::BitcastOp::create(b, loc, type, x); }
  mlir::Value hasBit(mlir::Value bits, int64_t bit) {
    mlir::Value masked = make<mlir::arith::AndIOp>(bits, integer(bit));
    return make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ne, masked, integer(0));
  }

  template <typename Op, typename... Args>
  mlir::Value make(Args... args) {
    return Op::create(b, loc, args...);
  }

protected:
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type, bitsType;

private:
  mlir::Value splat(mlir::Type type, mlir::Attribute value) {
    auto vector = llvm::dyn_cast<mlir::VectorType>(type);
    return mlir::arith::ConstantOp::create(
        b, loc,
        vector ? mlir::TypedAttr(mlir::DenseElementsAttr::get(vector, value))
               : llvm::cast<mlir::TypedAttr>(value));
  }

  mlir::FloatType element;
  mlir::IntegerType bitsElement;
  mlir::Type narrowType;
};

} // namespace tw::target
