// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DTypes.h"
#include <fmt/format.h>
#include <iterator>

namespace tw::python {

/// By code; of the first ones the number of bits follows.
static constexpr const char *typeNames[] = {"int",
                                            "uint",
                                            "float",
                                            "opaque",
                                            "bfloat",
                                            "complex",
                                            "bool",
                                            "float8_e3m4",
                                            "float8_e4m3",
                                            "float8_e4m3b11fnuz",
                                            "float8_e4m3fn",
                                            "float8_e4m3fnuz",
                                            "float8_e5m2",
                                            "float8_e5m2fnuz",
                                            "float8_e8m0fnu",
                                            "float6_e2m3fn",
                                            "float6_e3m2fn",
                                            "float4_e2m1fn"};

std::string dtypeText(dlpack::DataType type) {
  std::string text =
      type.code < std::size(typeNames) ? typeNames[type.code] : fmt::format("{}:", type.code);
  if (type.code <= dlpack::Bool || type.code >= std::size(typeNames))
    text += std::to_string(type.bits);
  return type.lanes == 1 ? text : fmt::format("{}x{}", text, type.lanes);
}

const char *dtypeHelp(dlpack::DataType type) {
  if (type.lanes != 1)
    return "give an array with another dimension for the elements of each vector";
  if (type.code == dlpack::Complex)
    return "give an array with another dimension for real and imaginary parts";
  return "convert it to a dtype that programs have: f16, bf16, f32, f64, i8, i16, i32, i64, u8 or "
         "bool";
}

} // namespace tw::python
