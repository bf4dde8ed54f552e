// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 by the instructions that GPUs have for them: ex2.approx and rcp.approx are 2^-22
// off at most, div.full two units in the last place (PTX ISA). That is far below what rounding to
// 16 bits takes away, and a tenth of the polynomials' instructions.
#include "IR/Tile/Elementwise.h"
#include "Target/Common/FloatBuilder.h"
#include "Target/NVIDIA/Math.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tw::target::nvidia {
namespace {

class Approximate : public FloatBuilder {
public:
  using FloatBuilder::FloatBuilder;

  Value exp2(Value x) { return instruction("ex2.approx.f32 $0, $1;", "=f,f", x); }
  Value exp(Value x) { return exp2(mul(x, number(1.44269504088896341))); }
  Value divide(Value x, Value y) {
    return instruction("div.full.f32 $0, $1, $2;", "=f,f,f", {x, y});
  }
  /// 1 - 2 / (1 + e^2x), and a polynomial where that has few digits.
  Value tanh(Value x) {
    Value square = mul(x, x);
    Value p = polynomial(square, {-0.33333277702331543, 0.13331328332424164, -0.05372921749949455,
                                  0.020601972937583923, -0.005660754628479481});
    Value small = fma(mul(p, square), x, x);
    Value e = exp2(mul(x, number(2 * 1.44269504088896341)));
    Value inverse = instruction("rcp.approx.f32 $0, $1;", "=f,f", add(e, number(1)));
    return select(less(abs(x), number(0.625)), small, fma(inverse, number(-2), number(1)));
  }

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

Value emitApproximate(OpBuilder &b, Location loc, StringRef operation, ValueRange operands) {
  using Function = Value (*)(Approximate &, ValueRange);
  static const llvm::StringMap<Function> functions = {
      {"arith.divf", [](Approximate &f, ValueRange x) { return f.divide(x[0], x[1]); }},
      {"math.exp", [](Approximate &f, ValueRange x) { return f.exp(x[0]); }},
      {"math.exp2", [](Approximate &f, ValueRange x) { return f.exp2(x[0]); }},
      {"math.tanh", [](Approximate &f, ValueRange x) { return f.tanh(x[0]); }},
  };
  auto found = functions.find(operation);
  if (found == functions.end() || !operands[0].getType().isF32())
    return {};
  Approximate builder(b, loc, operands[0].getType(), b.getF32Type());
  return found->second(builder, operands);
}

bool isRoundedToHalf(Value value) {
  llvm::SmallSetVector<Value, 16> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i].use_empty())
      return false;
    for (Operation *user : reached[i].getUsers()) {
      if (!tile::isElementwise(user))
        return false;
      Type to = getElementTypeOrSelf(user->getResult(0));
      if (to.isF32())
        reached.insert(user->getResult(0));
      else if (!to.isF16() && !to.isBF16())
        return false;
    }
  }
  return true;
}

} // namespace tw::target::nvidia
