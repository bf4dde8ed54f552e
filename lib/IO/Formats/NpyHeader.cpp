// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/NpyHeader.h"
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace tw {

namespace {

/// NumPy arrays have at most this many dimensions.
constexpr size_t maxRank = 64;

/// Reads the dict literal. Every function returns empty (or false) when the text is not what it
/// reads; the position is then of no interest.
class Literal {
public:
  explicit Literal(std::string_view text) : rest(text) {}

  /// The whole dict; empty fields mean a missing key.
  struct Fields {
    std::optional<std::string> descr;
    std::optional<bool> fortranOrder;
    std::optional<std::vector<int64_t>> sizes;
  };
  std::optional<Fields> dict() {
    Fields fields;
    if (!take('{'))
      return {};
    while (!take('}')) {
      auto key = string();
      if (!key || !take(':') || !value(*key, fields) || (!take(',') && peek() != '}'))
        return {};
    }
    skipSpace();
    return rest.empty() ? std::optional(fields) : std::nullopt;
  }

private:
  /// A key given twice, or one that is not ours, is malformed.
  bool value(const std::string &key, Fields &fields) {
    if (key == "descr" && !fields.descr)
      return (fields.descr = descr()).has_value();
    if (key == "fortran_order" && !fields.fortranOrder)
      return (fields.fortranOrder = boolean()).has_value();
    if (key == "shape" && !fields.sizes)
      return (fields.sizes = tuple()).has_value();
    return false;
  }

  std::optional<std::string> descr() { return peek() == '[' ? list() : string(); }

  std::optional<std::string> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return {};
    size_t end = rest.find(quote, 1);
    if (end == rest.npos)
      return {};
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  /// A structured dtype, skipped: only that it is one is of interest.
  std::optional<std::string> list() {
    int depth = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      depth += rest[i] == '[' ? 1 : rest[i] == ']' ? -1 : 0;
      if (depth == 0) {
        rest.remove_prefix(i + 1);
        return "[...]";
      }
    }
    return {};
  }

  std::optional<bool> boolean() {
    skipSpace();
    for (auto [word, result] : {std::pair("True", true), std::pair("False", false)})
      if (rest.starts_with(word)) {
        rest.remove_prefix(std::strlen(word));
        return result;
      }
    return {};
  }

  std::optional<std::vector<int64_t>> tuple() {
    std::vector<int64_t> sizes;
    if (!take('('))
      return {};
    while (!take(')')) {
      auto size = integer();
      if (!size || sizes.size() == maxRank || (!take(',') && peek() != ')'))
        return {};
      sizes.push_back(*size);
    }
    return sizes;
  }

  std::optional<int64_t> integer() {
    skipSpace();
    int64_t result = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), result);
    if (error != std::errc() || result < 0)
      return {};
    rest.remove_prefix(end - rest.data());
    return result;
  }

  void skipSpace() {
    size_t start = rest.find_first_not_of(" \t\r\n");
    rest.remove_prefix(std::min(start, rest.size()));
  }
  char peek() { return skipSpace(), rest.empty() ? '\0' : rest[0]; }
  bool take(char c) {
    if (peek() != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }

  std::string_view rest;
};

Diagnostic malformed(const std::string &name, std::string what) {
  return {Code::IO_4, fmt::format("{}: {}", name, what), {}, {}, "write it with numpy.save"};
}

} // namespace

Result<NpyHeader> parseNpyHeader(std::span<const std::byte> bytes, const std::string &name) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (!text.starts_with("\x93NUMPY"))
    return malformed(name, "this is not a .npy file (it does not start with \\x93NUMPY)");
  int version = text.size() > 6 ? static_cast<unsigned char>(text[6]) : 0;
  if (version < 1 || version > 3)
    return malformed(
        name, fmt::format("version {} of the .npy format is not known (1 to 3 are)", version));
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t start = 8 + lengthBytes;
  if (text.size() < start)
    return malformed(name,
                     fmt::format("the file ends after {} bytes, inside its header", text.size()));
  uint32_t length = 0;
  std::memcpy(&length, text.data() + 8, lengthBytes);
  if (length > text.size() - start)
    return malformed(name, fmt::format("the header says it has {} bytes, the file has {} more",
                                       length, text.size() - start));
  auto fields = Literal(text.substr(start, length)).dict();
  if (!fields)
    return malformed(name, "the header is not a dict of descr, fortran_order and shape");
  if (!fields->descr || !fields->fortranOrder || !fields->sizes)
    return malformed(name,
                     fmt::format("the header has no {}", !fields->descr          ? "descr"
                                                         : !fields->fortranOrder ? "fortran_order"
                                                                                 : "shape"));
  return NpyHeader{*fields->descr, *fields->fortranOrder, *fields->sizes, start + length};
}

} // namespace tw
