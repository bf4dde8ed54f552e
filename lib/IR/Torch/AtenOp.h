// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that are rows of the schema table: torch.aten.*, torch.prims.*, torch.prim.*, ...
// One class serves them all; arguments go by their names in the schema. With `op` one of
// torch.aten.softmax.int:
//
//     Value input = op.arg("self");
//     std::optional<int64_t> dim = op.intArg("dim");
//     if (auto softmax = dyn_cast<Torch<"aten.softmax.int">>(operation)) ...
//     AtenOp::create(builder, loc, "aten.add.Tensor", type, {a, b});      // alpha = 1 by default
//     AtenOp::create(builder, loc, "aten.mean.dim", type, {x, dims}, {{"keepdim", yes}});
#pragma once
#include "IR/Torch/Ops.h"
#include "IR/Torch/Schema.h"

namespace tw::torch {

/// The trait of every table operation.
template <typename ConcreteType>
struct IsAtenOp : public mlir::OpTrait::TraitBase<ConcreteType, IsAtenOp> {};

class AtenOp : public mlir::OpState {
public:
  using OpState::printOpName;
  explicit AtenOp(mlir::Operation *op = nullptr) : OpState(op) {}
  static bool classof(mlir::Operation *op) { return op->hasTrait<IsAtenOp>(); }

  const Schema &schema() const { return Schema::fromTypeID((*this)->getName().getTypeID()); }
  /// "aten.add.Tensor".
  llvm::StringRef name() const {
    return (*this)->getName().getStringRef().drop_front(sizeof("torch.") - 1);
  }

  /// The operand for a schema argument; null when the schema has no such argument.
  mlir::Value arg(llvm::StringRef argument) const;
  /// Whether the argument is absent: None, or not in the schema.
  bool isAbsent(llvm::StringRef argument) const;
  /// A constant argument; empty when it is not a constant of that kind.
  std::optional<int64_t> intArg(llvm::StringRef argument) const;

  using Named = std::pair<llvm::StringRef, mlir::Value>;
  /// Makes an operation of the table. `name` is "aten.mm" or "torch.aten.mm". Arguments that are
  /// neither given by position nor by name get the schema's default as torch.constant.* ops at the
  /// builder's place. The schema must exist and every argument without default must be given: that
  /// is asserted; for names and arguments that come from a file use tryCreate.
  static AtenOp create(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                       mlir::TypeRange resultTypes, mlir::ValueRange positional,
                       llvm::ArrayRef<Named> named = {});

  /// Like create, but returns null and sets `problem` ("argument 'mat2' is missing") on a mistake.
  static AtenOp tryCreate(mlir::OpBuilder &builder, mlir::Location loc, const Schema &schema,
                          mlir::TypeRange resultTypes, mlir::ValueRange positional,
                          llvm::ArrayRef<Named> named, std::string &problem);
};

/// A default of the schema as a value; null when the argument has none.
mlir::Value createDefault(mlir::OpBuilder &builder, mlir::Location loc, const Argument &argument);

/// A string that can be a template argument.
template <size_t N>
struct OpNameLiteral {
  char text[N];
  constexpr OpNameLiteral(const char (&literal)[N]) {
    for (size_t i = 0; i < N; ++i)
      text[i] = literal[i];
  }
};

/// One table operation as a type, for isa/dyn_cast and OpRewritePattern: Torch<"aten.mm">.
template <OpNameLiteral Name>
class Torch : public AtenOp {
public:
  using AtenOp::AtenOp;
  static llvm::StringRef getOperationName() {
    static const std::string name = std::string("torch.") + Name.text;
    return name;
  }
  static bool classof(mlir::Operation *op) {
    return op->getName().getStringRef() == getOperationName();
  }
};

} // namespace tw::torch
