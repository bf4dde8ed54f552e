// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support/DType.h"

namespace tw {

static constexpr DTypeInfo table[] = {
    {DType::F16, "f16", "torch.float16", 2, true, true},
    {DType::BF16, "bf16", "torch.bfloat16", 2, true, true},
    {DType::F32, "f32", "torch.float32", 4, true, true},
    {DType::F64, "f64", "torch.float64", 8, true, true},
    {DType::I8, "i8", "torch.int8", 1, false, true},
    {DType::I16, "i16", "torch.int16", 2, false, true},
    {DType::I32, "i32", "torch.int32", 4, false, true},
    {DType::I64, "i64", "torch.int64", 8, false, true},
    {DType::U8, "u8", "torch.uint8", 1, false, false},
    {DType::Bool, "bool", "torch.bool", 1, false, false},
};

const DTypeInfo &info(DType dtype) { return table[static_cast<int>(dtype)]; }

std::optional<DType> parseDType(std::string_view name) {
  for (const DTypeInfo &row : table)
    if (row.name == name)
      return row.dtype;
  return std::nullopt;
}

} // namespace tw
