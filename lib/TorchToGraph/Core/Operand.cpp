// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Operand.h"
#include "TorchToGraph/Builders/Elementwise/Element.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::lower {

Scalar Scalar::ofInt(MLIRContext *context, int64_t value) {
  return {Kind::Int, IntegerAttr::get(IndexType::get(context), value)};
}

Scalar Scalar::ofFloat(MLIRContext *context, double value) {
  return {Kind::Float, FloatAttr::get(Float64Type::get(context), value)};
}

Scalar Scalar::ofBool(MLIRContext *context, bool value) {
  return {Kind::Bool, BoolAttr::get(context, value)};
}

std::optional<int64_t> Scalar::constantInt() const {
  auto attr = dyn_cast<Attribute>(value);
  if (!attr || kind == Kind::Float)
    return std::nullopt;
  APInt bits = cast<IntegerAttr>(attr).getValue();
  return kind == Kind::Bool ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
}

std::optional<double> Scalar::constantNumber() const {
  if (auto whole = constantInt())
    return double(*whole);
  if (auto attr = dyn_cast<Attribute>(value))
    return cast<FloatAttr>(attr).getValueAsDouble();
  return std::nullopt;
}

DType Scalar::promotionDType() const {
  return kind == Kind::Int ? DType::I64 : kind == Kind::Float ? DType::F32 : DType::Bool;
}

Value Scalar::materialize(OpBuilder &b, Location loc) const {
  if (auto known = dyn_cast<Value>(value))
    return known;
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(cast<Attribute>(value)));
}

Value Scalar::element(OpBuilder &b, Location loc, DType dtype) const {
  Element e(b, loc, dtype);
  if (auto whole = constantInt())
    return e.constant(*whole);
  if (auto number = constantNumber())
    return e.constant(*number);
  Value known = cast<Value>(value);
  if (kind == Kind::Float)
    return e.cast(known, DType::F64);
  if (kind == Kind::Bool)
    return e.cast(known, DType::Bool);
  return e.cast(arith::IndexCastOp::create(b, loc, b.getI64Type(), known), DType::I64);
}

bool Operand::isPoison() const {
  if (const OperandList *elements = list())
    return llvm::any_of(*elements, [](const Operand &x) { return x.isPoison(); });
  return std::holds_alternative<Poison>(data);
}

static std::string describe(const Tensor &tensor) {
  std::string sizes;
  for (int64_t size : tensor.type().getShape())
    sizes += (sizes.empty() ? "" : ",") +
             (ShapedType::isDynamic(size) ? std::string("?") : fmt::format("{}", size));
  return fmt::format("{}[{}]", info(tensor.dtype).name, sizes);
}

static std::string describe(const Scalar &scalar) {
  static constexpr const char *kinds[] = {"int", "float", "bool"};
  auto number = scalar.constantNumber();
  if (!number)
    return fmt::format("{} (known at run time)", kinds[int(scalar.kind)]);
  if (scalar.kind == Scalar::Kind::Bool)
    return *number != 0 ? "True" : "False";
  return scalar.isFloat() ? fmt::format("{}", *number) : fmt::format("{}", *scalar.constantInt());
}

std::string describe(const Operand &operand) {
  if (auto tensor = operand.tensor())
    return describe(*tensor);
  if (auto scalar = operand.scalar())
    return describe(*scalar);
  if (auto text = operand.text())
    return fmt::format("\"{}\"", *text);
  if (operand.isNone())
    return "None";
  if (!operand.list())
    return "(unknown)";
  std::string text;
  for (const Operand &element : *operand.list())
    text += (text.empty() ? "" : ", ") + describe(element);
  return "[" + text + "]";
}

} // namespace tw::lower
