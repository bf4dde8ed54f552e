// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/ElementDType.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace tw {

std::optional<DType> dtypeOf(Type element) {
  if (!element)
    return std::nullopt;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF32())
    return DType::F32;
  if (element.isF64())
    return DType::F64;
  if (element.isIndex())
    return DType::I64;
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer)
    return std::nullopt;
  static constexpr struct {
    unsigned width;
    std::optional<DType> dtype, unsignedDType;
  } rows[] = {{1, DType::Bool, std::nullopt},
              {8, DType::I8, DType::U8},
              {16, DType::I16, std::nullopt},
              {32, DType::I32, std::nullopt},
              {64, DType::I64, std::nullopt}};
  for (const auto &row : rows)
    if (row.width == integer.getWidth())
      return integer.isUnsigned() ? row.unsignedDType : row.dtype;
  return std::nullopt;
}

} // namespace tw
