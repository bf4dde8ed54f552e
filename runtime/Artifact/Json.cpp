// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Artifact/Json.h"
#include <charconv>
#include <fmt/format.h>

namespace tw::rt {

const Json *Json::find(std::string_view key) const {
  if (const Object *members = object())
    for (const auto &[name, member] : *members)
      if (name == key)
        return &member;
  return nullptr;
}

const char *Json::typeName() const {
  static constexpr const char *names[] = {"null",     "a boolean", "an integer", "a number",
                                          "a string", "an array",  "an object"};
  return names[value.index()];
}

/// Recursive descent; every method returns false after it has set `problem`.
class JsonParser {
public:
  explicit JsonParser(std::string_view text) : text(text) {}

  Result<Json> run() {
    Json root;
    if (parseValue(root, 0) && (skipSpace(), at != text.size()))
      fail("text after the end of the document");
    if (!problem.empty())
      return Diagnostic{Code::RUNTIME_3,
                        fmt::format("the metadata is not valid JSON: at byte {}: {}", at, problem)};
    return root;
  }

private:
  static constexpr int maxDepth = 64;

  bool fail(std::string what) {
    if (problem.empty())
      problem = std::move(what);
    return false;
  }
  void skipSpace() {
    while (at < text.size() &&
           (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r'))
      ++at;
  }
  /// Takes `c` if it is next.
  bool accept(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool expect(char c) { return accept(c) || fail(fmt::format("'{}' is expected", c)); }

  bool parseValue(Json &out, int depth) {
    if (depth > maxDepth)
      return fail(fmt::format("nested more than {} levels deep", maxDepth));
    skipSpace();
    if (at >= text.size())
      return fail("the text ends where a value is expected");
    switch (text[at]) {
    case '{':
      return parseObject(out, depth);
    case '[':
      return parseArray(out, depth);
    case '"':
      return parseString(out.value.emplace<std::string>());
    case 't':
      out.value = true;
      return parseWord("true");
    case 'f':
      out.value = false;
      return parseWord("false");
    case 'n':
      return parseWord("null");
    default:
      return parseNumber(out);
    }
  }

  bool parseWord(std::string_view word) {
    if (text.substr(at, word.size()) != word)
      return fail("an unknown word");
    at += word.size();
    return true;
  }

  bool parseObject(Json &out, int depth) {
    auto &members = out.value.emplace<Json::Object>();
    ++at;
    if (accept('}'))
      return true;
    do {
      auto &[key, member] = members.emplace_back();
      skipSpace();
      if (at >= text.size() || text[at] != '"')
        return fail("a key is expected");
      if (!parseString(key) || !expect(':') || !parseValue(member, depth + 1))
        return false;
    } while (accept(','));
    return expect('}');
  }

  bool parseArray(Json &out, int depth) {
    auto &elements = out.value.emplace<Json::Array>();
    ++at;
    if (accept(']'))
      return true;
    do {
      if (!parseValue(elements.emplace_back(), depth + 1))
        return false;
    } while (accept(','));
    return expect(']');
  }

  bool parseString(std::string &out) {
    ++at;
    while (at < text.size() && text[at] != '"') {
      auto c = static_cast<unsigned char>(text[at++]);
      if (c < 0x20)
        return fail("a control character in a string");
      if (c != '\\')
        out += static_cast<char>(c);
      else if (!parseEscape(out))
        return false;
    }
    if (at >= text.size())
      return fail("a string that does not end");
    ++at;
    return true;
  }

  bool parseEscape(std::string &out) {
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    if (at >= text.size())
      return fail("a string that does not end");
    char c = text[at++];
    if (c == 'u')
      return parseUnicode(out);
    size_t which = from.find(c);
    if (which == std::string_view::npos)
      return fail("an unknown escape in a string");
    out += to[which];
    return true;
  }

  bool parseHex(uint32_t &code) {
    if (text.size() - at < 4)
      return fail("a \\u escape that does not end");
    const char *begin = text.data() + at;
    if (std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4)
      return fail("a \\u escape that is not four hexadecimal digits");
    at += 4;
    return true;
  }

  bool parseUnicode(std::string &out) {
    uint32_t code = 0, low = 0;
    if (!parseHex(code))
      return false;
    if (code >= 0xD800 && code < 0xE000) {
      if (code >= 0xDC00 || text.substr(at, 2) != "\\u")
        return fail("half of a surrogate pair");
      at += 2;
      if (!parseHex(low))
        return false;
      if (low < 0xDC00 || low >= 0xE000)
        return fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    appendUtf8(out, code);
    return true;
  }

  static void appendUtf8(std::string &out, uint32_t code) {
    auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | (code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | (code >> 12));
      tail(6), tail(0);
    } else {
      out += static_cast<char>(0xF0 | (code >> 18));
      tail(12), tail(6), tail(0);
    }
  }

  bool parseNumber(Json &out) {
    size_t end = text.find_first_not_of("+-.0123456789eE", at);
    std::string_view word = text.substr(at, end == std::string_view::npos ? end : end - at);
    const char *first = word.data(), *last = first + word.size();
    size_t digits = word.substr(0, 1) == "-" ? 1 : 0;
    if (digits >= word.size() || word[digits] < '0' || word[digits] > '9')
      return fail("a value is expected");
    if (word.find_first_of(".eE") == std::string_view::npos) {
      int64_t number = 0;
      auto [ptr, error] = std::from_chars(first, last, number);
      if (error != std::errc() || ptr != last)
        return fail("an integer that is malformed or too large");
      out.value = number;
    } else {
      double number = 0;
      auto [ptr, error] = std::from_chars(first, last, number);
      if (error != std::errc() || ptr != last)
        return fail("a number that is malformed or too large");
      out.value = number;
    }
    at += word.size();
    return true;
  }

  std::string_view text;
  size_t at = 0;
  std::string problem;
};

Result<Json> Json::parse(std::string_view text) { return JsonParser(text).run(); }

} // namespace tw::rt
