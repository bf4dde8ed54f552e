// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 by the instructions that GPUs have for them: ex2.approx and rcp.approx are 2^-22
// off at most, div.full two units in the last place (PTX ISA). That is far below what rounding to
// 16 bits takes away, and a tenth of the polynomials' instructions.
#include "IR/Tile/Elementwise.h"
#include "IR/Tile/Tile.h"
#include "Target/Common/Math/FloatBuilder.h"
#include "Target/NVIDIA/Math.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

class Approximate : public FloatBuilder {
public:
  using FloatBuilder::FloatBuilder;
  static constexpr double log2e = 1.44269504088896341;

  Value exp2(Value x) { return instruction("ex2.approx.ftz.f32 $0, $1;", "=f,f", x); }
  Value exp(Value x) { return exp2(mul(x, number(log2e))); }
  Value divide(Value x, Value y) {
    return instruction("div.full.f32 $0, $1, $2;", "=f,f,f", {x, y});
  }
  Value reciprocal(Value x) { return instruction("rcp.approx.ftz.f32 $0, $1;", "=f,f", x); }
  /// A power of two by which y becomes a normal number whose reciprocal is one, too.
  Value scaleFor(Value y) {
    Value size = abs(y);
    Value raised = select(less(size, number(0x1p-126)), number(0x1p24), number(1));
    return select(less(number(0x1p126), size), number(0.25), raised);
  }
  /// 1 - 2 / (1 + e^2x), and a polynomial where that has few digits.
  Value tanh(Value x) {
    Value square = mul(x, x);
    Value p = polynomial(square, {-0.33333277702331543, 0.13331328332424164, -0.05372921749949455,
                                  0.020601972937583923, -0.005660754628479481});
    Value small = fma(mul(p, square), x, x);
    Value e = exp2(mul(x, number(2 * log2e)));
    Value inverse = reciprocal(add(e, number(1)));
    return select(less(abs(x), number(0.625)), small, fma(inverse, number(-2), number(1)));
  }

  /// PTX ISA, "tanh": 2^-11 off at most.
  Value fastTanh(Value x) { return instruction("tanh.approx.f32 $0, $1;", "=f,f", x); }

private:
  Value instruction(StringRef text, StringRef registers, ValueRange operands) {
    return LLVM::InlineAsmOp::create(b, loc, TypeRange{type}, operands, text, registers,
                                     /*has_side_effects=*/false, /*is_align_stack=*/false,
                                     LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
                                     /*operand_attrs=*/nullptr)
        .getResult(0);
  }
};

} // namespace

Value emitExpOfDifference(OpBuilder &b, Location loc, Value x, Value factor, Value y) {
  Approximate f(b, loc, x.getType(), b.getF32Type());
  Value log2e = f.number(Approximate::log2e);
  Value scale = factor ? f.mul(factor, log2e) : log2e;
  return f.exp2(f.fma(x, scale, f.mul(y, f.number(-Approximate::log2e))));
}

Value emitDivisionByShared(OpBuilder &b, Location loc, Value x, Value y) {
  Approximate f(b, loc, x.getType(), b.getF32Type());
  Value scale = f.scaleFor(y), inverse = f.reciprocal(f.mul(y, scale));
  return f.mul(f.mul(x, scale), inverse);
}

using Function = Value (*)(Approximate &, ValueRange);
static const llvm::StringMap<Function> &approximations() {
  static const llvm::StringMap<Function> functions = {
      {"arith.divf", [](Approximate &f, ValueRange x) { return f.divide(x[0], x[1]); }},
      {"math.exp", [](Approximate &f, ValueRange x) { return f.exp(x[0]); }},
      {"math.exp2", [](Approximate &f, ValueRange x) { return f.exp2(x[0]); }},
      {"math.tanh", [](Approximate &f, ValueRange x) { return f.tanh(x[0]); }},
  };
  return functions;
}

bool hasApproximation(Operation *op) {
  return approximations().contains(op->getName().getStringRef());
}

Value emitApproximate(OpBuilder &b, Location loc, StringRef operation, ValueRange operands,
                      bool isNext) {
  auto found = approximations().find(operation);
  if (found == approximations().end() || !operands[0].getType().isF32())
    return {};
  Approximate builder(b, loc, operands[0].getType(), b.getF32Type());
  if (isNext && operation == "math.tanh")
    return builder.fastTanh(operands[0]);
  return found->second(builder, operands);
}

/// Whether an approximation decides nothing: what is 0 or infinite is exact.
static bool comparesWithExact(Operation *op) {
  auto compare = dyn_cast<arith::CmpFOp>(op);
  return compare && llvm::any_of(compare->getOperands(), [](Value operand) {
           if (auto full = operand.getDefiningOp<tile::FullOp>())
             operand = full.getValue();
           return matchPattern(operand, m_AnyZeroFloat()) ||
                  matchPattern(operand, m_PosInfFloat()) || matchPattern(operand, m_NegInfFloat());
         });
}

/// The f32 values that a use of one in an operation gets to; false where it gets to something else
/// than 16-bit floats. `isNext`: through elementwise operations and shapes alone.
static bool follow(OpOperand &use, bool isNext, llvm::SmallSetVector<Value, 16> &reached) {
  Operation *user = use.getOwner();
  if (isNext && isa<tile::YieldOp, tile::ForOp, tile::DotOp, tile::ReduceOp>(user))
    return false;
  if (auto yield = dyn_cast<tile::YieldOp>(user)) {
    auto loop = cast<tile::ForOp>(yield->getParentOp());
    if (yield->getParentRegion() == &loop.getBody())
      reached.insert(loop.getCarried()[use.getOperandNumber()]);
    reached.insert(loop.getResult(use.getOperandNumber()));
    return true;
  }
  if (auto loop = dyn_cast<tile::ForOp>(user)) {
    unsigned fixed = loop->getNumOperands() - loop.getInitial().size();
    if (use.getOperandNumber() < fixed)
      return false;
    reached.insert(loop.getCarried()[use.getOperandNumber() - fixed]);
    reached.insert(loop.getResult(use.getOperandNumber() - fixed));
    return true;
  }
  auto dot = dyn_cast<tile::DotOp>(user);
  bool isSum = dot && use.getOperandNumber() == 2;
  bool isShape = isa<tile::BroadcastOp, tile::ReshapeOp, tile::TransposeOp, tile::ReduceOp>(user);
  if (!tile::isElementwise(user) && !isSum && !isShape)
    return false;
  Type to = getElementTypeOrSelf(user->getResult(0));
  if (to.isF32())
    reached.insert(user->getResult(0));
  return to.isF32() || to.isF16() || to.isBF16() || comparesWithExact(user);
}

bool isRoundedToHalf(Value value, bool isNext) {
  constexpr size_t mostReached = 1024; // of many functions in one kernel, each would go through all
  llvm::SmallSetVector<Value, 16> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (i == mostReached)
      return false;
    Value one = reached[i];
    bool isCarried = isa<BlockArgument>(one) || one.getDefiningOp<tile::ForOp>();
    if (one.use_empty() && !isCarried)
      return false;
    for (OpOperand &use : one.getUses())
      if (!follow(use, isNext, reached))
        return false;
  }
  return true;
}

} // namespace tw::target::nvidia
