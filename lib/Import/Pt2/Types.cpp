// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Types.h"
#include "IR/Torch/DtypeCode.h"
#include "Support/Checked.h"
#include "mlir/IR/BuiltinTypes.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::pt2 {

bool isComplex(torch::ValueTensorType type) {
  return isa_and_nonnull<ComplexType>(type.getDtype());
}

/// The sizes as the dialect has them; the static ones must leave the tensor addressable.
static Result<SmallVector<int64_t>> sizesOf(const TensorMeta &meta, int elementBytes) {
  SmallVector<int64_t> sizes;
  std::optional<int64_t> bytes = elementBytes;
  for (const SymInt &size : meta.sizes) {
    if (!size.isConstant()) {
      sizes.push_back(torch::ValueTensorType::kUnknownSize);
      continue;
    }
    if (size.value < 0)
      return Diagnostic{Code::IMPORT_19, fmt::format("a tensor has the size {}", size.value)};
    if (bytes && size.value > 0)
      bytes = checkedMul(*bytes, size.value);
    sizes.push_back(size.value);
  }
  if (!bytes)
    return Diagnostic{Code::IMPORT_19, "a tensor has more bytes than 63 bits can count"};
  return sizes;
}

Diagnostic unsupportedDType(ScalarType dtype) {
  return {Code::IMPORT_8,
          fmt::format("dtype {} is not supported", scalarTypeName(dtype)),
          "",
          {},
          "f16, bf16, f32, f64, i8, i16, i32, i64, u8 and bool are"};
}

/// The complex type of that dtype; none for others.
static Type complexType(MLIRContext *context, ScalarType dtype) {
  auto type = torch::dtypeOfCode(context, atenScalarType(dtype).value_or(-1));
  return isa_and_nonnull<ComplexType>(type) ? type : Type();
}

Result<torch::ValueTensorType> tensorType(MLIRContext *context, const TensorMeta &meta) {
  auto dtype = dtypeOf(meta.dtype);
  Type complex = complexType(context, meta.dtype);
  if (!dtype && !complex)
    return unsupportedDType(meta.dtype);
  if (!meta.isStrided())
    return Diagnostic{Code::IMPORT_9,
                      fmt::format("tensors of layout {} (sparse) are not supported", meta.layout),
                      "",
                      {},
                      "use dense tensors (.to_dense())"};
  TW_ASSIGN(SmallVector<int64_t> sizes, sizesOf(meta, dtype ? info(*dtype).bytes : 16));
  if (meta.sizesUnknown)
    sizes.clear();
  return torch::ValueTensorType::get(context, /*hasSizes=*/!meta.sizesUnknown, sizes,
                                     dtype ? torch::torchType(context, *dtype) : complex,
                                     Attribute());
}

torch::ValueTensorType withDtype(torch::ValueTensorType type, Type dtype) {
  return torch::ValueTensorType::get(type.getContext(), type.getHasSizes(), type.getSizes(), dtype,
                                     Attribute());
}

torch::ValueTensorType unknownTensorType(MLIRContext *context) {
  return torch::ValueTensorType::get(context, /*hasSizes=*/false, {}, Type(), Attribute());
}

} // namespace tw::pt2
