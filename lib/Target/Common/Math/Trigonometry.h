// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "mlir/IR/Builders.h"
#include <optional>

namespace tw::target {

enum class Trigonometric { Sine, Cosine, Tangent };

/// The function that libm calls `name`, on f32; nothing for another, and for other types.
std::optional<Trigonometric> trigonometricOf(llvm::StringRef name, mlir::Type type);

/// A function of f32 numbers `x`, a scalar or a vector, rounded from f64. Where a number is so
/// large that this has too few bits, `byCalls` computes all of them.
mlir::Value emitTrigonometric(mlir::OpBuilder &b, mlir::Location loc, Trigonometric function,
                              mlir::Value x, llvm::function_ref<mlir::Value()> byCalls);

} // namespace tw::target
