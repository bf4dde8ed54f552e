// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic in 64 bits that folds constants as it is built, so that loops over static
// shapes come out without any.
#pragma once
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tw::target {

/// An index: a constant, or an SSA value of type i64.
class Ix {
public:
  Ix(int64_t constant = 0) : number(constant) {}
  Ix(mlir::Value dynamic) : number(0), ssa(dynamic) {}

  /// A constant again, where `value` is one.
  static Ix of(mlir::Value value);

  bool isConstant() const { return !ssa; }
  bool is(int64_t constant) const { return !ssa && number == constant; }
  /// Whether both are surely the same.
  bool same(const Ix &other) const { return ssa == other.ssa && number == other.number; }
  std::optional<int64_t> constant() const {
    return ssa ? std::nullopt : std::optional<int64_t>(number);
  }
  /// The constant, or what to assume where a guess is enough.
  int64_t estimate(int64_t guess) const { return ssa ? guess : number; }
  mlir::Value dynamic() const { return ssa; }

private:
  int64_t number;
  mlir::Value ssa;
};

using Indices = llvm::SmallVector<Ix, 4>;

/// Builds index arithmetic at the builder's place.
class IndexBuilder {
public:
  IndexBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value value(const Ix &x);
  Ix add(const Ix &a, const Ix &b);
  Ix sub(const Ix &a, const Ix &b);
  Ix mul(const Ix &a, const Ix &b);
  Ix min(const Ix &a, const Ix &b);
  Ix max(const Ix &a, const Ix &b);
  /// Division of non-negative numbers by positive ones.
  Ix div(const Ix &a, const Ix &b);
  Ix rem(const Ix &a, const Ix &b);
  Ix ceilDiv(const Ix &a, const Ix &b) { return div(add(a, sub(b, 1)), b); }
  Ix alignUp(const Ix &a, int64_t to) { return mul(ceilDiv(a, to), to); }
  Ix product(llvm::ArrayRef<Ix> factors);
  /// a < b and 0 <= a < b, as i1.
  mlir::Value less(const Ix &a, const Ix &b);
  mlir::Value inside(const Ix &a, const Ix &bound);
  mlir::Value equal(const Ix &a, const Ix &b);
  Ix select(mlir::Value condition, const Ix &a, const Ix &b);
  /// What affine expressions without symbols are where dimensions are `dims`.
  Ix affine(mlir::AffineExpr expr, llvm::ArrayRef<Ix> dims);
  Indices affine(mlir::AffineMap map, llvm::ArrayRef<Ix> dims);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace tw::target
