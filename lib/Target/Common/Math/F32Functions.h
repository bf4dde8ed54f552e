// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "Target/Common/Math/FloatBuilder.h"

namespace tw::target {

/// Elementary functions on f32, of scalars or vectors, as polynomials. Targets with instructions
/// that make one of them cheaper override it. docs/performance.md states the errors.
class F32Functions : public FloatBuilder {
public:
  F32Functions(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type)
      : FloatBuilder(b, loc, type, b.getF32Type()) {}
  virtual ~F32Functions() = default;

  virtual mlir::Value exp(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  virtual mlir::Value erf(mlir::Value x);

  /// The function of the math dialect on `x`; null where there is no polynomial for it.
  mlir::Value emit(llvm::StringRef operation, mlir::Value x);

protected:
  /// Added to a float below 2^22, it leaves the nearest integer in the low bits.
  static constexpr double magic = 0x1.8p23;
  /// x 2^n, rounded once, for an integer n from -180 to 129 and 1/2 < x < 2.
  virtual mlir::Value scale(mlir::Value x, mlir::Value n);
};

} // namespace tw::target
