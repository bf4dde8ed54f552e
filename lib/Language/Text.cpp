// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Language/Text.h"
#include "Language/Tracer.h"

namespace tw::kernel::detail {

std::string elementText(DType dtype) { return dtype == DType::u8 ? "i8" : dtypeName(dtype); }

std::string mlirType(const Type &type) {
  if (!type.isTile)
    return elementText(type.dtype);
  std::string extents, dims;
  for (const tw::Size &extent : type.shape) {
    auto number = extent.constant();
    extents += (number ? std::to_string(*number) : "?") + "x";
    if (!number)
      dims += (dims.empty() ? "" : ", ") + extent.str();
  }
  return "tensor<" + extents + elementText(type.dtype) +
         (dims.empty() ? "" : ", #tile.dims<[" + dims + "]>") + ">";
}

std::string bufferType(const BufferInfo &buffer) {
  std::string dtype = buffer.dtype == DType::u8 ? "ui8" : dtypeName(buffer.dtype);
  return "!tile.buffer<" + shapeText(buffer.shape) + ", " + dtype + ">";
}

std::string quoted(const std::string &text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string result = "\"";
  for (char c : text)
    if (c == '"' || c == '\\' || uint8_t(c) < 32 || uint8_t(c) == 127)
      result += {'\\', hex[uint8_t(c) / 16], hex[uint8_t(c) % 16]};
    else
      result += c;
  return result + "\"";
}

std::string numbers(const std::vector<int64_t> &list) {
  std::string text;
  for (int64_t number : list)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

} // namespace tw::kernel::detail
