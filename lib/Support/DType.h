// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types as users know them, one table for every level that names, sizes or stores them.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tw {

/// Values are part of the artifact format (ProgramABI.h): never renumber.
enum class DType : uint8_t { F16 = 0, BF16, F32, F64, I8, I16, I32, I64, U8, Bool };

struct DTypeInfo {
  DType dtype;
  std::string_view name;      // in SPECs and messages: "f32", "bool"
  std::string_view torchName; // "torch.float32"
  int bytes;                  // of one element in memory; a bool takes one byte, 0 or 1
  bool isFloat, isSigned;
};

const DTypeInfo &info(DType dtype);
/// By `name` ("f32"); empty when unknown.
std::optional<DType> parseDType(std::string_view name);

} // namespace tw
