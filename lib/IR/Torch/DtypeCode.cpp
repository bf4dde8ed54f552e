// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IR/Torch/DtypeCode.h"
#include "mlir/IR/Builders.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::torch {

namespace {

using MakeType = Type (*)(Builder &);

/// One of PyTorch's dtypes (c10::ScalarType).
struct Row {
  int64_t code;
  const char *name;
  MakeType make = nullptr; // null: the torch dialect has none
  std::optional<DType> dtype = std::nullopt;
};

template <unsigned bits, bool isSigned>
Type integer(Builder &b) {
  return b.getIntegerType(bits, isSigned);
}

constexpr Row rows[] = {
    {0, "uint8", integer<8, false>, DType::U8},
    {1, "int8", integer<8, true>, DType::I8},
    {2, "int16", integer<16, true>, DType::I16},
    {3, "int32", integer<32, true>, DType::I32},
    {4, "int64", integer<64, true>, DType::I64},
    {5, "float16", [](Builder &b) -> Type { return b.getF16Type(); }, DType::F16},
    {6, "float32", [](Builder &b) -> Type { return b.getF32Type(); }, DType::F32},
    {7, "float64", [](Builder &b) -> Type { return b.getF64Type(); }, DType::F64},
    {8, "complex32", [](Builder &b) -> Type { return ComplexType::get(b.getF16Type()); }},
    {9, "complex64", [](Builder &b) -> Type { return ComplexType::get(b.getF32Type()); }},
    {10, "complex128", [](Builder &b) -> Type { return ComplexType::get(b.getF64Type()); }},
    {11, "bool", [](Builder &b) -> Type { return b.getI1Type(); }, DType::Bool},
    {12, "qint8"},
    {13, "quint8"},
    {14, "qint32"},
    {15, "bfloat16", [](Builder &b) -> Type { return b.getBF16Type(); }, DType::BF16},
    {23, "float8_e5m2"},
    {24, "float8_e4m3fn"},
    {25, "float8_e5m2fnuz"},
    {26, "float8_e4m3fnuz"},
    {27, "uint16"},
    {28, "uint32"},
    {29, "uint64"},
    {44, "float8_e8m0fnu"},
};

const Row *find(int64_t code) {
  auto row = llvm::find_if(rows, [&](const Row &row) { return row.code == code; });
  return row == std::end(rows) ? nullptr : row;
}

} // namespace

std::optional<int64_t> dtypeCode(Type dtype) {
  if (!dtype)
    return std::nullopt;
  Builder builder(dtype.getContext());
  for (const Row &row : rows)
    if (row.make && row.make(builder) == dtype)
      return row.code;
  return std::nullopt;
}

Type dtypeOfCode(MLIRContext *context, int64_t code) {
  const Row *row = find(code);
  Builder builder(context);
  return row && row->make ? row->make(builder) : Type();
}

std::optional<DType> plainDtypeOfCode(int64_t code) {
  const Row *row = find(code);
  return row ? row->dtype : std::nullopt;
}

std::string nameOfCode(int64_t code) {
  const Row *row = find(code);
  return row ? row->name : fmt::format("dtype number {}", code);
}

Type torchType(MLIRContext *context, DType dtype) {
  Builder builder(context);
  return llvm::find_if(rows, [&](const Row &row) { return row.dtype == dtype; })->make(builder);
}

} // namespace tw::torch
