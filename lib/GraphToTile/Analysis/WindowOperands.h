// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that are read in windows, such as those of a convolution's gradient, become look-ups,
// which are read as any window (BodyAnalysis):
//
//   linalg.generic {indexing_maps = [(a, b) -> (a + b), (a, b) -> (b), ...]} ins(%x, %w) {
//   ^bb0(%e: f32, %v: f32, ...):
// becomes
//   linalg.generic {indexing_maps = [(a, b) -> (b), ...]} ins(%w) {
//   ^bb0(%v: f32, ...):
//     %i = linalg.index 0
//     %j = linalg.index 1
//     %k = arith.addi %i, %j
//     %e = tensor.extract %x[%k]
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tw::conversion {

/// Rewrites the generic operations of a dispatch's function; those with a loop of several
/// iterations that no other operand is read or written along stay, and those that are a product for
/// each tap of the windows.
void lookUpWindows(mlir::func::FuncOp function);

} // namespace tw::conversion
