// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/JsonWriter.h"
#include <cmath>
#include <fmt/format.h>

namespace tw {

/// The length of the well-formed UTF-8 character that `text` starts with, or 0.
static size_t characterLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto continues = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  unsigned c = byte(0);
  if (c < 0x80)
    return 1;
  if (c >= 0xc2 && c <= 0xdf)
    return continues(1) ? 2 : 0;
  if (c >= 0xe0 && c <= 0xef) // neither overlong nor a surrogate
    return continues(1, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf) && continues(2) ? 3 : 0;
  if (c >= 0xf0 && c <= 0xf4)
    return continues(1, c == 0xf0 ? 0x90 : 0x80, c == 0xf4 ? 0x8f : 0xbf) && continues(2) &&
                   continues(3)
               ? 4
               : 0;
  return 0;
}

void JsonWriter::quote(std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t length = characterLength(text);
    char c = text[0];
    if (length == 0)
      out += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += text.substr(0, length);
    text.remove_prefix(length ? length : 1);
  }
  out += '"';
}

void JsonWriter::separate() {
  if (!first)
    out += ", ";
  first = false;
}

JsonWriter &JsonWriter::open(char bracket) {
  separate();
  out += bracket;
  first = true;
  return *this;
}

JsonWriter &JsonWriter::close(char bracket) {
  out += bracket;
  first = false;
  return *this;
}

JsonWriter &JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out += ": ";
  first = true; // no comma before the value
  return *this;
}

JsonWriter &JsonWriter::raw(std::string_view json) {
  separate();
  out += json;
  return *this;
}

JsonWriter &JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter &JsonWriter::value(int64_t number) { return raw(fmt::format("{}", number)); }

JsonWriter &JsonWriter::value(double number) {
  if (std::isnan(number))
    return value("NaN");
  if (std::isinf(number))
    return value(number > 0 ? "Infinity" : "-Infinity");
  return raw(fmt::format("{}", number));
}

} // namespace tw
