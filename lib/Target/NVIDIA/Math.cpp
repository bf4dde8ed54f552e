// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Math.h"
#include "Target/Common/Math/F32Functions.h"
#include "Target/Common/Math/F32InF64.h"
#include "Target/Common/Math/F64Functions.h"
#include "Target/Common/Math/Trigonometry.h"

using namespace mlir;

namespace tw::target::nvidia {

Value emitPolynomial(OpBuilder &b, Location loc, StringRef operation, ValueRange operands) {
  Type type = operands[0].getType();
  return type.isF32() ? F32Functions(b, loc, type).emit(operation, operands[0]) : Value();
}

/// A function of f32 by that of f64.
static Value byWideFunction(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(arith::ExtFOp::create(b, loc, b.getF64Type(), operand));
  Value result = emitF64(b, loc, name, wide);
  return result ? Value(arith::TruncFOp::create(b, loc, b.getF32Type(), result)) : result;
}

Value emitFunction(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  Type type = operands[0].getType();
  if (type.isF64())
    return emitF64(b, loc, name, operands);
  if (isComputedInF64(name, type))
    return emitInF64(b, loc, name, operands);
  auto wide = [&] { return byWideFunction(b, loc, name, operands); };
  auto function = trigonometricOf(name, type);
  return function ? emitTrigonometric(b, loc, *function, operands[0], wide) : wide();
}

} // namespace tw::target::nvidia
