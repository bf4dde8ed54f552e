// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a torch value has become at the graph level: a tensor, a Python scalar (known or not), a
// string, a list of those, or nothing.
#pragma once
#include "Support/DType.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <string>
#include <variant>
#include <vector>

namespace tw::lower {

/// A tensor value with the user's dtype (builtin types are signless: u8 and i8 are both i8).
struct Tensor {
  mlir::Value value;
  DType dtype;

  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  int64_t rank() const { return type().getRank(); }
  /// The static size of dimension `i`, or ShapedType::kDynamic.
  int64_t size(int64_t i) const { return type().getDimSize(i); }
};

/// A Python int, float or bool. Its value is an attribute (index, f64, i1) when known at compile
/// time, else an SSA value: ints are of type index, floats f64, bools i1.
struct Scalar {
  enum class Kind { Int, Float, Bool };
  Kind kind;
  mlir::OpFoldResult value;
  bool fromData = false; // taken from a tensor at run time: cannot be a size

  static Scalar ofInt(mlir::MLIRContext *context, int64_t value);
  static Scalar ofFloat(mlir::MLIRContext *context, double value);
  static Scalar ofBool(mlir::MLIRContext *context, bool value);

  bool isFloat() const { return kind == Kind::Float; }
  bool isConstant() const { return llvm::isa<mlir::Attribute>(value); }
  /// The value of a constant int or bool.
  std::optional<int64_t> constantInt() const;
  /// The value of any constant.
  std::optional<double> constantNumber() const;
  /// The dtype PyTorch gives it in type promotion: i64, f32 or bool.
  DType promotionDType() const;

  /// The SSA value (index, f64 or i1).
  mlir::Value materialize(mlir::OpBuilder &b, mlir::Location loc) const;
  /// The value as an element of `dtype`; a constant yields one arith.constant.
  mlir::Value element(mlir::OpBuilder &b, mlir::Location loc, DType dtype) const;
};

class Operand;
using OperandList = std::vector<Operand>;

/// The translation of one torch value.
class Operand {
public:
  struct Poison {}; // result of an op whose lowering was refused: its users are skipped

  Operand() = default; // None
  Operand(Tensor tensor) : data(tensor) {}
  Operand(Scalar scalar) : data(scalar) {}
  Operand(std::string text) : data(std::move(text)) {}
  Operand(OperandList list) : data(std::move(list)) {}
  Operand(Poison poison) : data(poison) {}

  bool isNone() const { return std::holds_alternative<std::monostate>(data); }
  bool isPoison() const;
  const Tensor *tensor() const { return std::get_if<Tensor>(&data); }
  const Scalar *scalar() const { return std::get_if<Scalar>(&data); }
  const std::string *text() const { return std::get_if<std::string>(&data); }
  const OperandList *list() const { return std::get_if<OperandList>(&data); }

private:
  std::variant<std::monostate, Tensor, Scalar, std::string, OperandList, Poison> data;
};

/// For messages: "f32[2,?]", "3", "[1, 2]", "None", "int (known at run time)".
std::string describe(const Operand &operand);

} // namespace tw::lower
