// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes JSON, one value after the other; commas and quoting are done here.
//
//   JsonWriter json;
//   json.beginObject().member("name", "x").key("sizes").beginArray().value(2).endArray();
//   std::string text = json.endObject().text();
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tw {

/// The calls must form one valid document: that is the caller's. Every call returns *this.
class JsonWriter {
public:
  JsonWriter &beginObject() { return open('{'); }
  JsonWriter &endObject() { return close('}'); }
  JsonWriter &beginArray() { return open('['); }
  JsonWriter &endArray() { return close(']'); }
  JsonWriter &key(std::string_view name);

  /// Bytes that are not UTF-8 become U+FFFD.
  JsonWriter &value(std::string_view text);
  JsonWriter &value(const char *text) { return value(std::string_view(text)); }
  /// Shortest text that reads back the same; "NaN", "Infinity" and "-Infinity" are strings.
  JsonWriter &value(double number);
  JsonWriter &value(int64_t number);
  JsonWriter &value(int number) { return value(int64_t(number)); }
  JsonWriter &value(bool flag) { return raw(flag ? "true" : "false"); }
  JsonWriter &null() { return raw("null"); }
  /// A value that is JSON already.
  JsonWriter &raw(std::string_view json);

  template <typename T>
  JsonWriter &member(std::string_view name, const T &content) {
    return key(name).value(content);
  }

  const std::string &text() const { return out; }

private:
  JsonWriter &open(char bracket);
  JsonWriter &close(char bracket);
  void separate();
  void quote(std::string_view text);

  std::string out;
  bool first = true; // of its array or object
};

} // namespace tw
