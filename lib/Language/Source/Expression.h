// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of C++ in the making.
#pragma once
#include "Support/Size.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "tilewright/kernel/Base.h"
#include <string>
#include <vector>

namespace tw::source {

using kernel::DType;

/// What a piece of C++ is: a number, or a handle of the kernel language.
enum class Handle : uint8_t { Number, Size, Index, Scalar, Tile };

/// How strongly operators bind; `Primary` needs no parentheses anywhere.
enum Strength : int {
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equal,
  Order,
  Shift,
  Sum,
  Product,
  Unary,
  Primary
};

struct Expression {
  std::string text;
  Handle handle = Handle::Tile;
  DType dtype = DType::f32; // of its elements; that of a Number is what it is used with
  int strength = Primary;

  /// In parentheses where it binds less strongly than `least`.
  std::string asOperand(int least) const { return strength < least ? "(" + text + ")" : text; }
};

/// "f32"; of index "DType::index".
std::string dtypeText(DType dtype);
/// The dtype of elements; i8 for both meanings of i8.
DType dtypeOf(mlir::Type element);

/// A scalar constant as a C++ number that the kernel language reads as the same value of `dtype`.
std::string numberText(mlir::TypedAttr value, DType dtype);

/// A size as a C++ expression; `symbols` gives the variables' names.
Expression sizeExpression(const Size &size, const std::map<std::string, std::string> &symbols);

/// "a, b, c".
std::string joined(const std::vector<std::string> &parts);
/// A string literal.
std::string quotedText(llvm::StringRef text);

} // namespace tw::source
