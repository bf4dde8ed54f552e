// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Nodes/Emit.h"
#include "IR/Torch/DtypeCode.h"
#include "Import/Pt2/Schema/Schema.h"
#include "Import/Pt2/Types.h"

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

Value Emit::integer(int64_t value) { return ConstantIntOp::create(builder, loc, value); }
Value Emit::real(double value) {
  return ConstantFloatOp::create(builder, loc, builder.getF64FloatAttr(value));
}
Value Emit::boolean(bool value) {
  return ConstantBoolOp::create(builder, loc, builder.getBoolAttr(value));
}
Value Emit::string(StringRef value) {
  return ConstantStrOp::create(builder, loc, builder.getStringAttr(value));
}
Value Emit::none() { return ConstantNoneOp::create(builder, loc); }

Value Emit::integers(ArrayRef<int64_t> values) {
  SmallVector<Value> elements;
  for (int64_t value : values)
    elements.push_back(integer(value));
  return list(elements, intType());
}

Value Emit::list(ValueRange elements, Type elementType) {
  return ListConstructOp::create(builder, loc, ListType::get(context(), elementType), elements);
}

Value Emit::aten(StringRef name, Type result, ArrayRef<AtenOp::Named> named) {
  return AtenOp::create(builder, loc, name, result, {}, named)->getResult(0);
}

Value Emit::size(Value tensor, int64_t dim) {
  auto type = mlir::cast<ValueTensorType>(tensor.getType());
  if (type.getHasSizes() && type.getSizes()[dim] != ValueTensorType::kUnknownSize)
    return integer(type.getSizes()[dim]);
  return aten("aten.size.int", intType(), {{"self", tensor}, {"dim", integer(dim)}});
}

Value Emit::sizes(Value tensor) {
  auto type = mlir::cast<ValueTensorType>(tensor.getType());
  if (!type.getHasSizes())
    return {};
  SmallVector<Value> elements;
  for (size_t dim = 0; dim < type.getSizes().size(); ++dim)
    elements.push_back(size(tensor, dim));
  return list(elements, intType());
}

Value Emit::cast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return TensorStaticInfoCastOp::create(builder, loc, type, value);
}

Value Emit::convert(Value tensor, ValueTensorType type) {
  auto from = mlir::cast<ValueTensorType>(tensor.getType());
  if (from.getDtype() == type.getDtype())
    return tensor;
  auto dtype = torch::dtypeCode(type.getDtype());
  assert(dtype && "types are made by tensorType");
  return aten("prims.convert_element_type", withDtype(from, type.getDtype()),
              {{"a", tensor}, {"dtype", integer(*dtype)}});
}

} // namespace tw::pt2
