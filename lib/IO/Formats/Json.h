// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON from files nobody trusts: a thin layer over simdjson whose getters know where they are, so
// that every mistake in a file is reported with its path ("graph.nodes[3].inputs[0].arg").
#pragma once
#include "Support/Diagnostic.h"
#include <cstdint>
#include <deque>
#include <memory>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

class Json;

/// A parsed document. Values of it must not outlive it; moving it keeps them valid.
class JsonDocument {
public:
  static constexpr size_t maxDepth = 64;

  /// `name` stands for the document in messages ("model.pt2: models/model.json"). Errors (IO_16):
  /// not JSON, nested deeper than maxDepth, more than 4 GiB.
  static Result<JsonDocument> parse(std::string_view text, const std::string &name);

  Json root() const;

private:
  friend class Json;
  struct Step { // one step of a path: a key, or an index when the key is empty
    const Step *parent;
    std::string_view key;
    int64_t index;
  };
  struct State {
    std::string name;
    simdjson::dom::parser parser{simdjson::SIMDJSON_MAXSIZE_BYTES};
    simdjson::dom::element root;
    std::deque<Step> steps;
    Step top{nullptr, {}, -1};
  };
  std::unique_ptr<State> state;
};

/// One value of a document. Cheap to copy. Every getter fails (IO_17) when the value is of another
/// kind, naming the path, what was expected and what is there.
class Json {
public:
  bool isNull() const { return value.is_null(); }
  bool isObject() const { return value.is_object(); }
  bool isArray() const { return value.is_array(); }
  bool isString() const { return value.is_string(); }
  bool isInteger() const { return value.is_int64(); }
  bool isNumber() const { return value.is_number(); }

  Result<bool> boolean() const;
  Result<int64_t> integer() const;
  Result<double> number() const;
  Result<std::string_view> string() const;
  /// Of a list of strings.
  Result<std::vector<std::string>> strings() const;

  /// The member `key` of an object; an error when there is none.
  Result<Json> get(std::string_view key) const;
  /// The same, but empty when there is none or it is null (or this is no object).
  std::optional<Json> find(std::string_view key) const;

  /// Calls f(Json) for each element of an array; f returns a Status, the first error ends it.
  template <typename F>
  Status forEach(F f) const {
    simdjson::dom::array array;
    if (value.get(array) != simdjson::SUCCESS)
      return wrongKind("an array");
    int64_t index = 0;
    for (simdjson::dom::element element : array)
      TW_TRY(f(child(element, {}, index++)));
    return {};
  }
  /// Calls f(std::string_view key, Json) for each member of an object, in the file's order. A key
  /// that comes twice is the caller's to refuse.
  template <typename F>
  Status forEachMember(F f) const {
    simdjson::dom::object object;
    if (value.get(object) != simdjson::SUCCESS)
      return wrongKind("an object");
    for (simdjson::dom::key_value_pair member : object)
      TW_TRY(f(member.key, child(member.value, member.key, -1)));
    return {};
  }
  /// Elements of an array or members of an object; 0 for anything else.
  size_t size() const;

  /// "graph.nodes[3]"; empty for the root.
  std::string path() const;
  /// An error at this value (IO_17 unless another code is given).
  Diagnostic error(const std::string &message, Code code = Code::IO_17) const;
  /// "expected an object, but this is a string".
  Diagnostic wrongKind(std::string_view expected) const;

private:
  friend class JsonDocument;
  Json(JsonDocument::State *state, simdjson::dom::element value, const JsonDocument::Step *step)
      : state(state), value(value), step(step) {}
  Json child(simdjson::dom::element element, std::string_view key, int64_t index) const;

  JsonDocument::State *state;
  simdjson::dom::element value;
  const JsonDocument::Step *step;
};

} // namespace tw
