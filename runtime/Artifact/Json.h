// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small strict JSON reader for the metadata of artifacts. The runtime has its own so that
// libtilewright.so depends on nothing but the C and C++ libraries: distributions ship simdjson,
// which the compiler's readers use, only as a shared library.
#pragma once
#include "Support/Diagnostic.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tw::rt {

class Json {
public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  /// Parses a complete text (RFC 8259; at most 64 levels deep, numbers without a fraction as
  /// int64, of equal keys the first counts). The error (RUNTIME_3) names the byte offset.
  static Result<Json> parse(std::string_view text);

  bool isNull() const { return std::holds_alternative<std::monostate>(value); }
  const bool *boolean() const { return std::get_if<bool>(&value); }
  const int64_t *integer() const { return std::get_if<int64_t>(&value); }
  const std::string *string() const { return std::get_if<std::string>(&value); }
  const Array *array() const { return std::get_if<Array>(&value); }
  const Object *object() const { return std::get_if<Object>(&value); }
  /// The member of an object; nullptr when there is none or this is not an object.
  const Json *find(std::string_view key) const;
  /// "null", "a boolean", "an integer", "a number", "a string", "an array", "an object".
  const char *typeName() const;

private:
  friend class JsonParser;
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value;
};

} // namespace tw::rt
