// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Types.h"

using namespace mlir;

namespace tw::lower {

Type elementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::Bool:
    return IntegerType::get(context, 1);
  default:
    return IntegerType::get(context, info(dtype).bytes * 8);
  }
}

DType opmath(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

DType accumulator(DType dtype) { return isFloat(dtype) ? opmath(dtype) : DType::I64; }

DType floatOf(DType dtype) { return isFloat(dtype) ? dtype : DType::F32; }

DType promote(DType a, DType b) {
  if (a == b)
    return a;
  if (isFloat(a) != isFloat(b))
    return isFloat(a) ? a : b;
  if (isFloat(a)) {
    if (info(a).bytes == info(b).bytes) // f16 with bf16
      return DType::F32;
    return info(a).bytes > info(b).bytes ? a : b;
  }
  if (a == DType::Bool || b == DType::Bool)
    return a == DType::Bool ? b : a;
  if (info(a).bytes == info(b).bytes) // u8 with i8
    return DType::I16;
  return info(a).bytes > info(b).bytes ? a : b;
}

/// Combines two classes of operands of which `high` counts more.
static std::optional<DType> combine(std::optional<DType> high, std::optional<DType> low) {
  if (!high || !low)
    return high ? high : low;
  if (isFloat(*high))
    return high;
  return *high == DType::Bool || isFloat(*low) ? promote(*high, *low) : *high;
}

DType promote(ArrayRef<Operand> operands) {
  std::optional<DType> tensors, zeroDim, scalars;
  auto meet = [](std::optional<DType> &into, DType dtype) {
    into = into ? promote(*into, dtype) : dtype;
  };
  for (const Operand &operand : operands) {
    if (auto tensor = operand.tensor())
      meet(tensor->rank() > 0 ? tensors : zeroDim, tensor->dtype);
    else if (auto scalar = operand.scalar())
      meet(scalars, scalar->promotionDType());
  }
  return combine(tensors, combine(zeroDim, scalars)).value_or(DType::F32);
}

} // namespace tw::lower
