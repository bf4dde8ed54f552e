// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch's dtypes: their numbers in exported programs and in ATen's schemas.
#include "Import/Pt2/Schema.h"
#include <fmt/format.h>

namespace tw::pt2 {

namespace {
struct Row {
  ScalarType serialized;
  int64_t aten;
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr Row table[] = {
    {1, 0, "torch.uint8", DType::U8},
    {2, 1, "torch.int8", DType::I8},
    {3, 2, "torch.int16", DType::I16},
    {4, 3, "torch.int32", DType::I32},
    {5, 4, "torch.int64", DType::I64},
    {6, 5, "torch.float16", DType::F16},
    {7, 6, "torch.float32", DType::F32},
    {8, 7, "torch.float64", DType::F64},
    {9, 8, "torch.complex32", {}},
    {10, 9, "torch.complex64", {}},
    {11, 10, "torch.complex128", {}},
    {12, 11, "torch.bool", DType::Bool},
    {13, 15, "torch.bfloat16", DType::BF16},
    {28, 27, "torch.uint16", {}},
    {29, 24, "torch.float8_e4m3fn", {}},
    {30, 23, "torch.float8_e5m2", {}},
    {31, 26, "torch.float8_e4m3fnuz", {}},
    {32, 25, "torch.float8_e5m2fnuz", {}},
    {33, 44, "torch.float8_e8m0fnu", {}},
    {34, 28, "torch.uint32", {}},
    {35, 29, "torch.uint64", {}},
};

const Row *find(ScalarType type) {
  for (const Row &row : table)
    if (row.serialized == type)
      return &row;
  return nullptr;
}
} // namespace

std::optional<DType> dtypeOf(ScalarType type) {
  const Row *row = find(type);
  return row ? row->dtype : std::nullopt;
}

std::string scalarTypeName(ScalarType type) {
  const Row *row = find(type);
  return row ? std::string(row->name) : fmt::format("number {}", type);
}

std::optional<int64_t> atenScalarType(ScalarType type) {
  const Row *row = find(type);
  return row ? std::optional(row->aten) : std::nullopt;
}

} // namespace tw::pt2
