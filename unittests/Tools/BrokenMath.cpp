// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler whose code for exp, tanh, erf, ... is wrong, for the tests of `tilewright check
// --interpret`: it takes the place of Target/CPU/Math and gives what a function is asked of.
#include "Target/CPU/Math/Math.h"

mlir::Value tw::target::cpu::emitMath(mlir::OpBuilder &b, mlir::Location loc,
                                      llvm::StringRef operation, mlir::ValueRange operands,
                                      const CpuFeatures &cpu) {
  return operands[0];
}
