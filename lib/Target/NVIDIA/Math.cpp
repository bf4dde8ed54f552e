// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Target/NVIDIA/Math.h"
#include "Target/Common/F32Functions.h"
#include "Target/Common/F32InF64.h"
#include "Target/Common/Trigonometry.h"

using namespace mlir;

namespace tw::target::nvidia {

Value emitPolynomial(OpBuilder &b, Location loc, StringRef operation, ValueRange operands) {
  Type type = operands[0].getType();
  return type.isF32() ? F32Functions(b, loc, type).emit(operation, operands[0]) : Value();
}

Value emitFunction(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  Type type = operands[0].getType();
  if (isComputedInF64(name, type))
    return emitInF64(b, loc, name, operands);
  if (auto function = trigonometricOf(name, type))
    return emitTrigonometric(b, loc, *function, operands[0], [&] { return operands[0]; });
  return operands[0];
}

} // namespace tw::target::nvidia
