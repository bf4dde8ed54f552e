// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IO/Formats/Json.h"
#include <fmt/format.h>
#include <vector>

using namespace simdjson;

namespace tw {

Result<JsonDocument> JsonDocument::parse(std::string_view text, const std::string &name) {
  JsonDocument document;
  document.state = std::make_unique<State>();
  document.state->name = name;
  dom::parser &parser = document.state->parser;
  error_code error = text.empty() ? EMPTY // its data may be null
                     : text.size() > SIMDJSON_MAXSIZE_BYTES
                         ? CAPACITY
                         : parser.allocate(std::max<size_t>(text.size(), 32), maxDepth);
  if (!error)
    error = parser.parse(text.data(), text.size()).get(document.state->root);
  if (error == DEPTH_ERROR)
    return Diagnostic{Code::IO_16,
                      fmt::format("{} is nested deeper than {} levels", name, maxDepth)};
  if (error)
    return Diagnostic{Code::IO_16,
                      fmt::format("{} is not valid JSON: {}", name, error_message(error))};
  return document;
}

Json JsonDocument::root() const { return Json(state.get(), state->root, &state->top); }

Json Json::child(dom::element element, std::string_view key, int64_t index) const {
  state->steps.push_back({step, key, index});
  return Json(state, element, &state->steps.back());
}

static std::string_view kindName(dom::element_type type) {
  switch (type) {
  case dom::element_type::ARRAY:
    return "an array";
  case dom::element_type::OBJECT:
    return "an object";
  case dom::element_type::INT64:
    return "an integer";
  case dom::element_type::UINT64:
    return "an integer beyond 64 signed bits";
  case dom::element_type::DOUBLE:
    return "a number";
  case dom::element_type::STRING:
    return "a string";
  case dom::element_type::BOOL:
    return "a boolean";
  case dom::element_type::NULL_VALUE:
    return "null";
  }
  return "something else";
}

std::string Json::path() const {
  std::vector<const JsonDocument::Step *> steps;
  for (auto *s = step; s->parent; s = s->parent)
    steps.push_back(s);
  std::string text;
  for (auto it = steps.rbegin(); it != steps.rend(); ++it)
    if ((*it)->index >= 0)
      text += fmt::format("[{}]", (*it)->index);
    else
      text += fmt::format("{}{}", text.empty() ? "" : ".", (*it)->key.substr(0, 100));
  return text;
}

Diagnostic Json::error(const std::string &message, Code code) const {
  std::string where = path();
  return {code, message, where.empty() ? state->name : fmt::format("{}: {}", state->name, where)};
}

Diagnostic Json::wrongKind(std::string_view expected) const {
  return error(
      fmt::format("the file has {} where {} is expected", kindName(value.type()), expected));
}

Result<bool> Json::boolean() const {
  bool result;
  if (value.get(result) != SUCCESS)
    return wrongKind("a boolean");
  return result;
}

Result<int64_t> Json::integer() const {
  int64_t result;
  if (!value.is_int64() || value.get(result) != SUCCESS)
    return wrongKind("an integer");
  return result;
}

Result<double> Json::number() const {
  double result;
  if (value.get(result) != SUCCESS)
    return wrongKind("a number");
  return result;
}

Result<std::string_view> Json::string() const {
  std::string_view result;
  if (value.get(result) != SUCCESS)
    return wrongKind("a string");
  return result;
}

Result<std::vector<std::string>> Json::strings() const {
  std::vector<std::string> all;
  TW_TRY(forEach([&](const Json &each) -> Status {
    TW_ASSIGN(std::string_view text, each.string());
    all.emplace_back(text);
    return {};
  }));
  return all;
}

Result<Json> Json::get(std::string_view key) const {
  dom::object object;
  if (value.get(object) != SUCCESS)
    return wrongKind("an object");
  dom::element element;
  if (object.at_key(key).get(element) != SUCCESS)
    return error(fmt::format("the member \"{}\" is missing", key));
  // Keys that callers ask for are literals: they live as long as any message.
  return child(element, key, -1);
}

std::optional<Json> Json::find(std::string_view key) const {
  dom::object object;
  dom::element element;
  if (value.get(object) != SUCCESS || object.at_key(key).get(element) != SUCCESS ||
      element.is_null())
    return std::nullopt;
  return child(element, key, -1);
}

size_t Json::size() const {
  dom::array array;
  dom::object object;
  if (value.get(array) == SUCCESS)
    return array.size();
  return value.get(object) == SUCCESS ? object.size() : 0;
}

} // namespace tw
