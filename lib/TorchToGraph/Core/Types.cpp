// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchToGraph/Core/Types.h"
#include <fmt/format.h>

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

namespace {
struct ScalarTypeRow {
  int64_t number;
  const char *name;
  std::optional<DType> dtype;
};
} // namespace

static constexpr ScalarTypeRow scalarTypes[] = {
    {0, "uint8", DType::U8},     {1, "int8", DType::I8},
    {2, "int16", DType::I16},    {3, "int32", DType::I32},
    {4, "int64", DType::I64},    {5, "float16", DType::F16},
    {6, "float32", DType::F32},  {7, "float64", DType::F64},
    {8, "complex32", {}},        {9, "complex64", {}},
    {10, "complex128", {}},      {11, "bool", DType::Bool},
    {12, "qint8", {}},           {13, "quint8", {}},
    {14, "qint32", {}},          {15, "bfloat16", DType::BF16},
    {23, "float8_e5m2", {}},     {24, "float8_e4m3fn", {}},
    {25, "float8_e5m2fnuz", {}}, {26, "float8_e4m3fnuz", {}},
    {27, "uint16", {}},          {28, "uint32", {}},
    {29, "uint64", {}},          {44, "float8_e8m0fnu", {}}};

std::optional<DType> dtypeOfScalarType(int64_t number) {
  for (const ScalarTypeRow &row : scalarTypes)
    if (row.number == number)
      return row.dtype;
  return std::nullopt;
}

std::string nameOfScalarType(int64_t number) {
  for (const ScalarTypeRow &row : scalarTypes)
    if (row.number == number)
      return row.name;
  return fmt::format("dtype number {}", number);
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
