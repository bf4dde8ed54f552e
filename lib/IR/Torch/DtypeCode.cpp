// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/DtypeCode.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
namespace tw::torch {

using MakeType = Type (*)(Builder &);

static constexpr std::pair<int64_t, MakeType> codes[] = {
    {0, [](Builder &b) -> Type { return b.getIntegerType(8, /*isSigned=*/false); }},
    {1, [](Builder &b) -> Type { return b.getIntegerType(8, /*isSigned=*/true); }},
    {2, [](Builder &b) -> Type { return b.getIntegerType(16, /*isSigned=*/true); }},
    {3, [](Builder &b) -> Type { return b.getIntegerType(32, /*isSigned=*/true); }},
    {4, [](Builder &b) -> Type { return b.getIntegerType(64, /*isSigned=*/true); }},
    {5, [](Builder &b) -> Type { return b.getF16Type(); }},
    {6, [](Builder &b) -> Type { return b.getF32Type(); }},
    {7, [](Builder &b) -> Type { return b.getF64Type(); }},
    {8, [](Builder &b) -> Type { return ComplexType::get(b.getF16Type()); }},
    {9, [](Builder &b) -> Type { return ComplexType::get(b.getF32Type()); }},
    {10, [](Builder &b) -> Type { return ComplexType::get(b.getF64Type()); }},
    {11, [](Builder &b) -> Type { return b.getI1Type(); }},
    {15, [](Builder &b) -> Type { return b.getBF16Type(); }},
};

std::optional<int64_t> dtypeCode(Type dtype) {
  if (!dtype)
    return std::nullopt;
  Builder builder(dtype.getContext());
  for (auto [code, make] : codes)
    if (make(builder) == dtype)
      return code;
  return std::nullopt;
}

Type dtypeOfCode(MLIRContext *context, int64_t wanted) {
  Builder builder(context);
  for (auto [code, make] : codes)
    if (code == wanted)
      return make(builder);
  return {};
}

} // namespace tw::torch
