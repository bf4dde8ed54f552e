// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/Common/Operations/LowerScalars.h"
#include "Target/Common/Math/Libm.h"
#include "Target/Common/Operations/SafeDivisor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace tw::target {
namespace {

bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// f64 becomes a half, and a half f64, by way of f32.
template <typename CastOp>
struct CastInSteps : OpRewritePattern<CastOp> {
  using OpRewritePattern<CastOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &b) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!(from.isF64() && isHalf(to)) && !(isHalf(from) && to.isF64()))
      return b.notifyMatchFailure(op, "one step is enough");
    Value single = CastOp::create(b, op.getLoc(), b.getF32Type(), op.getIn());
    b.replaceOpWithNewOp<CastOp>(op, to, single);
    return success();
  }
};

/// base^exponent by repeated squaring; a negative exponent gives what integer division of 1 gives.
struct ExpandIntegerPower : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value base = op.getLhs(), exponent = op.getRhs();
    Type type = base.getType();
    auto number = [&](Type of, int64_t value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(of, value));
    };
    Value zero = number(type, 0), one = number(type, 1), minusOne = number(type, -1);
    Value first = number(b.getI32Type(), 0), next = number(b.getI32Type(), 1);
    auto bits =
        scf::ForOp::create(b, loc, first, number(b.getI32Type(), type.getIntOrFloatBitWidth()),
                           next, ValueRange{one, base, exponent});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(bits.getBody());
      Value power = bits.getRegionIterArg(0), square = bits.getRegionIterArg(1),
            rest = bits.getRegionIterArg(2);
      Value isOdd = type.isInteger(1) ? rest : arith::TruncIOp::create(b, loc, b.getI1Type(), rest);
      Value times = arith::MulIOp::create(b, loc, power, square);
      Value chosen = arith::SelectOp::create(b, loc, isOdd, times, power);
      Value doubled = arith::MulIOp::create(b, loc, square, square);
      Value halved = arith::ShRUIOp::create(b, loc, rest, one);
      scf::YieldOp::create(b, loc, ValueRange{chosen, doubled, halved});
    }
    auto isEqual = [&](Value x, Value y) -> Value {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
    };
    Value parity = arith::AndIOp::create(b, loc, exponent, one);
    Value sign = arith::SelectOp::create(b, loc, isEqual(parity, zero), one, minusOne);
    Value small = arith::SelectOp::create(b, loc, isEqual(base, minusOne), sign, zero);
    small = arith::SelectOp::create(b, loc, isEqual(base, one), one, small);
    Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, exponent, zero);
    b.replaceOpWithNewOp<arith::SelectOp>(op, negative, small, bits.getResult(0));
    return success();
  }
};

/// An integer exponent as a number.
struct ExpandFloatPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op, PatternRewriter &b) const override {
    Value exponent = arith::SIToFPOp::create(b, op.getLoc(), op.getType(), op.getRhs());
    b.replaceOpWithNewOp<math::PowFOp>(op, op.getLhs(), exponent);
    return success();
  }
};

struct ExpandSincos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SincosOp op, PatternRewriter &b) const override {
    Value sine = math::SinOp::create(b, op.getLoc(), op.getOperand());
    Value cosine = math::CosOp::create(b, op.getLoc(), op.getOperand());
    b.replaceOp(op, {sine, cosine});
    return success();
  }
};

void expand(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  patterns.add<CastInSteps<arith::ExtFOp>, CastInSteps<arith::TruncFOp>, ExpandIntegerPower,
               ExpandFloatPower, ExpandSincos>(context);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  walkAndApplyPatterns(module, std::move(patterns));
}

/// What computes with halves does so in f32.
LogicalResult emulateHalves(ModuleOp module) {
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(
      converter, {Float16Type::get(context), BFloat16Type::get(context)},
      Float32Type::get(context));
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addDynamicallyLegalDialect<arith::ArithDialect, math::MathDialect>([&](Operation *op) {
    return isa<arith::BitcastOp, arith::ExtFOp, arith::TruncFOp, arith::ConstantOp,
               arith::SelectOp>(op) ||
           converter.isLegal(op);
  });
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  RewritePatternSet casts(context);
  arith::populateExpandBFloat16Patterns(casts);
  walkAndApplyPatterns(module, std::move(casts));
  return success();
}

} // namespace

LogicalResult lowerScalars(ModuleOp module, std::set<std::string> &imports) {
  expand(module);
  if (failed(emulateHalves(module)))
    return failure();
  module.walk([&](Operation *op) {
    OpBuilder b(op);
    bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
    if (isSigned || isa<arith::DivUIOp, arith::RemUIOp>(op))
      op->setOperand(1,
                     safeDivisor(b, op->getLoc(), op->getOperand(0), op->getOperand(1), isSigned));
    if (StringRef name = intrinsicImport(op); !name.empty())
      imports.insert((name + (op->getResult(0).getType().isF64() ? "" : "f")).str());
    if (StringRef name = libmName(op); !name.empty()) {
      op->getResult(0).replaceAllUsesWith(
          callLibm(b, op->getLoc(), name, op->getOperands(), imports));
      op->erase();
    }
  });
  return success();
}

} // namespace tw::target
