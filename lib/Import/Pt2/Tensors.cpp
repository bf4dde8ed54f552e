// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Tensors.h"

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

Value ViewStep::operand(StringRef name) const {
  auto index = schema->argumentIndex(name);
  return index ? operands[*index] : Value();
}

Tensor *TensorStore::addRoot(Value value, const TensorMeta *meta) {
  Tensor &tensor = tensors.emplace_back();
  tensor.type = cast<ValueTensorType>(value.getType());
  tensor.meta = meta;
  tensor.value = value;
  return &tensor;
}

Tensor *TensorStore::addView(Tensor *base, ViewStep step, Value value, const TensorMeta *meta) {
  Tensor *tensor = addRoot(value, meta);
  tensor->base = base;
  tensor->step = std::move(step);
  tensor->version = base->root().version;
  return tensor;
}

Value TensorStore::read(Emit &emit, Tensor *tensor) {
  unsigned current = tensor->root().version;
  if (tensor->version == current)
    return tensor->value;
  const ViewStep &step = tensor->step;
  OperationState state(emit.loc, OperationName(step.schema->opName, emit.context()));
  SmallVector<Value> operands(step.operands);
  operands[step.baseOperand] = read(emit, tensor->base);
  state.addOperands(operands);
  state.addTypes(step.opType);
  Value result = emit.builder.create(state)->getResult(0);
  if (step.element >= 0)
    result = ListUnpackOp::create(emit.builder, emit.loc, step.elementTypes, result)
                 ->getResult(step.element);
  tensor->value = result;
  tensor->version = current;
  return result;
}

std::optional<std::string> TensorStore::write(Emit &emit, Tensor *tensor, Value value) {
  if (const char *reason = tensor->root().frozen)
    return std::string("it writes to a tensor ") + reason;
  // From the view up to the root: the new value of each.
  SmallVector<std::pair<Tensor *, Value>> path = {{tensor, value}};
  for (Tensor *t = tensor; t->base; t = t->base) {
    Value base = viewInverse(emit, t->step, read(emit, t->base), path.back().second);
    if (!base)
      return ("it writes through a view made by " + t->step.schema->opName.drop_front(6)).str();
    path.push_back({t->base, base});
  }
  unsigned version = ++tensor->root().version;
  for (auto [t, newValue] : path) {
    t->value = newValue;
    t->version = version;
  }
  return std::nullopt;
}

} // namespace tw::pt2
