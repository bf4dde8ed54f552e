// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors between our form, the runtime's, text and JSON.
#pragma once
#include "IO/Formats/JsonWriter.h"
#include "IO/HostTensor.h"
#include "tilewright/tilewright.h"
#include <string>
#include <vector>

namespace tw::cli {

/// "f32[2, s0]"; a scalar is "i64".
std::string typeText(const tw_value_info &value);

/// Refers to the tensor's memory and sizes.
tw_tensor toRuntime(HostTensor &tensor);
/// A copy. Errors: IO_3.
Result<HostTensor> fromRuntime(const tw_tensor &tensor);

/// The elements in nested brackets, as NumPy prints them; of more than 1,000 only the first and
/// last three of each dimension.
std::string valuesText(const HostTensor &tensor);

/// Writes {"name", "dtype", "sizes"} and, up to `limit` elements, "values" (flat).
void writeJson(JsonWriter &json, std::string_view name, const HostTensor &tensor, int64_t limit);

/// "1.2 MB (1234567 bytes)"; small numbers in bytes only.
std::string bytesText(int64_t bytes);

} // namespace tw::cli
