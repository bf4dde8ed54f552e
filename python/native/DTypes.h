// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Our dtypes as DLPack, the buffer protocol and NumPy spell them.
#pragma once
#include "DLPack.h"
#include "tilewright/tilewright.h"
#include <optional>
#include <string>

namespace tw::python {

struct DTypeRow {
  tw_dtype dtype;
  dlpack::DataType dlpack;
  const char *format; // of the buffer protocol; null: it has none
  const char *numpy;  // null: NumPy alone has none
};

inline constexpr DTypeRow dtypes[] = {
    {TW_F16, {dlpack::Float, 16, 1}, "e", "float16"},
    {TW_BF16, {dlpack::Bfloat, 16, 1}, nullptr, nullptr},
    {TW_F32, {dlpack::Float, 32, 1}, "f", "float32"},
    {TW_F64, {dlpack::Float, 64, 1}, "d", "float64"},
    {TW_I8, {dlpack::Int, 8, 1}, "b", "int8"},
    {TW_I16, {dlpack::Int, 16, 1}, "h", "int16"},
    {TW_I32, {dlpack::Int, 32, 1}, "i", "int32"},
    {TW_I64, {dlpack::Int, 64, 1}, "q", "int64"},
    {TW_U8, {dlpack::UInt, 8, 1}, "B", "uint8"},
    {TW_BOOL, {dlpack::Bool, 8, 1}, "?", "bool"},
};
static_assert(sizeof dtypes / sizeof *dtypes == TW_BOOL + 1);

/// Rows are in the order of tw_dtype.
inline const DTypeRow &row(tw_dtype dtype) { return dtypes[dtype]; }

/// Tries `likely` first.
inline std::optional<tw_dtype> fromDLPack(dlpack::DataType type, tw_dtype likely = TW_F32) {
  if (row(likely).dlpack == type)
    return likely;
  for (const DTypeRow &row : dtypes)
    if (row.dlpack == type)
      return row.dtype;
  return std::nullopt;
}

/// "complex64", of vectors "float32x4": any dtype of DLPack, for messages; and what to do about one
/// that is none of ours.
std::string dtypeText(dlpack::DataType type);
const char *dtypeHelp(dlpack::DataType type);

/// Of a format of one native or little-endian element; null stands for bytes.
inline std::optional<tw_dtype> fromBufferFormat(const char *format, int64_t itemBytes) {
  if (!format)
    format = "B";
  if (*format == '<' || *format == '=' || *format == '@')
    ++format;
  char type = *format == 'l' ? 'q' : *format; // as wide as int64 where we run
  for (const DTypeRow &row : dtypes)
    if (row.format && type == *row.format && format[0] && !format[1] &&
        tw_dtype_bytes(row.dtype) == itemBytes)
      return row.dtype;
  return std::nullopt;
}

} // namespace tw::python
