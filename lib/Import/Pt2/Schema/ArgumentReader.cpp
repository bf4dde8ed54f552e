// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments of nodes: a union of thirty tags, one row each.
#include "Import/Pt2/Schema/SchemaReader.h"
#include <fmt/format.h>
#include <limits>

namespace tw::pt2 {

using Kind = Argument::Kind;

std::string_view Argument::kindText() const {
  static constexpr std::string_view texts[] = {"None",
                                               "a tensor",
                                               "a symbolic integer",
                                               "a symbolic float",
                                               "a symbolic boolean",
                                               "an integer",
                                               "a float",
                                               "a boolean",
                                               "a string",
                                               "a dtype",
                                               "a memory format",
                                               "a layout",
                                               "a device",
                                               "a list",
                                               "a subgraph",
                                               "an operator",
                                               "a custom object",
                                               "a complex number",
                                               "a dictionary",
                                               "an unknown value"};
  return texts[static_cast<int>(kind)];
}

Result<Tagged> readUnion(const Json &json) {
  std::optional<Tagged> found;
  TW_TRY(json.forEachMember([&](std::string_view key, Json value) -> Status {
    if (value.isNull())
      return {};
    if (found)
      return json.error(fmt::format("a value has two kinds, {} and {}", found->tag, key));
    found = Tagged{key, value};
    return {};
  }));
  if (!found)
    return json.error("a value has no kind");
  return *found;
}

Result<std::string_view> readName(const Json &json) {
  TW_ASSIGN(Json name, json.get("name"));
  return name.string();
}

static Argument make(Kind kind) {
  Argument result;
  result.kind = kind;
  return result;
}

/// JSON has no infinities: the exporter writes them as strings.
static Result<double> readFloat(const Json &json) {
  if (!json.isString())
    return json.number();
  std::string_view text = *json.string();
  if (text == "Infinity")
    return std::numeric_limits<double>::infinity();
  if (text == "-Infinity")
    return -std::numeric_limits<double>::infinity();
  if (text == "NaN")
    return std::numeric_limits<double>::quiet_NaN();
  return json.wrongKind("a number");
}

static Result<Argument> readNone(const Json &) { return make(Kind::None); }

template <Kind kind>
static Result<Argument> readNamed(const Json &json) {
  Argument result = make(kind);
  TW_ASSIGN(result.text, readName(json));
  return result;
}

template <Kind kind>
static Result<Argument> readText(const Json &json) {
  Argument result = make(kind);
  TW_ASSIGN(result.text, json.string());
  return result;
}

template <Kind kind>
static Result<Argument> readInteger(const Json &json) {
  Argument result = make(kind);
  TW_ASSIGN(result.integer, json.integer());
  return result;
}

static Result<Argument> readReal(const Json &json) {
  Argument result = make(Kind::Float);
  TW_ASSIGN(result.real, readFloat(json));
  return result;
}

static Result<Argument> readBool(const Json &json) {
  Argument result = make(Kind::Bool);
  TW_ASSIGN(result.integer, json.boolean());
  return result;
}

/// {as_name} or a constant {as_int}, {as_float}, {as_bool}.
template <Kind kind>
static Result<Argument> readSymbolic(const Json &json) {
  TW_ASSIGN(Tagged tagged, readUnion(json));
  if (tagged.tag == "as_name")
    return readText<kind>(tagged.value);
  if (tagged.tag == "as_int")
    return readInteger<Kind::Int>(tagged.value);
  if (tagged.tag == "as_float")
    return readReal(tagged.value);
  if (tagged.tag == "as_bool")
    return readBool(tagged.value);
  return json.error(fmt::format("unknown kind of value {}", tagged.tag));
}

static Result<Argument> readOptionalTensor(const Json &json) {
  TW_ASSIGN(Tagged tagged, readUnion(json));
  return tagged.tag == "as_tensor" ? readNamed<Kind::Tensor>(tagged.value) : make(Kind::None);
}

static Result<Argument> readDevice(const Json &json) {
  TW_ASSIGN(Json type, json.get("type"));
  return readText<Kind::Device>(type);
}

static Result<Argument> readSubgraph(const Json &json) {
  Argument result = make(Kind::GraphRef);
  TW_ASSIGN(result.text, readName(json));
  TW_ASSIGN(Json body, json.get("graph"));
  TW_ASSIGN(Graph graph, readGraph(body));
  result.graph = std::make_shared<Graph>(std::move(graph));
  return result;
}

template <Result<Argument> (*read)(const Json &)>
static Result<Argument> readListOf(const Json &json) {
  Argument result = make(Kind::List);
  TW_TRY(readList(json, result.elements, read));
  return result;
}

template <Kind kind>
static Result<Argument> readOther(const Json &) {
  return make(kind);
}

Result<Argument> readArgument(const Json &json) {
  struct Row {
    std::string_view tag;
    Result<Argument> (*read)(const Json &);
  };
  static constexpr Row rows[] = {
      {"as_tensor", readNamed<Kind::Tensor>},
      {"as_int", readInteger<Kind::Int>},
      {"as_ints", readListOf<readInteger<Kind::Int>>},
      {"as_float", readReal},
      {"as_bool", readBool},
      {"as_none", readNone},
      {"as_tensors", readListOf<readNamed<Kind::Tensor>>},
      {"as_sym_int", readSymbolic<Kind::SymInt>},
      {"as_sym_ints", readListOf<readSymbolic<Kind::SymInt>>},
      {"as_sym_float", readSymbolic<Kind::SymFloat>},
      {"as_sym_floats", readListOf<readSymbolic<Kind::SymFloat>>},
      {"as_sym_bool", readSymbolic<Kind::SymBool>},
      {"as_sym_bools", readListOf<readSymbolic<Kind::SymBool>>},
      {"as_optional_tensor", readOptionalTensor},
      {"as_optional_tensors", readListOf<readOptionalTensor>},
      {"as_floats", readListOf<readReal>},
      {"as_bools", readListOf<readBool>},
      {"as_string", readText<Kind::String>},
      {"as_strings", readListOf<readText<Kind::String>>},
      {"as_scalar_type", readInteger<Kind::ScalarType>},
      {"as_memory_format", readInteger<Kind::MemoryFormat>},
      {"as_layout", readInteger<Kind::Layout>},
      {"as_device", readDevice},
      {"as_graph", readSubgraph},
      {"as_operator", readText<Kind::Operator>},
      {"as_nested_tensors", readListOf<readListOf<readNamed<Kind::Tensor>>>},
      {"as_int_lists", readListOf<readListOf<readInteger<Kind::Int>>>},
      {"as_float_lists", readListOf<readListOf<readReal>>},
      {"as_custom_obj", readNamed<Kind::CustomObject>},
      {"as_complex", readOther<Kind::Complex>},
      {"as_string_to_argument", readOther<Kind::Dict>},
  };
  TW_ASSIGN(Tagged tagged, readUnion(json));
  for (const Row &row : rows)
    if (row.tag == tagged.tag)
      return row.read(tagged.value);
  Argument unknown = make(Kind::Unknown);
  unknown.text = tagged.tag;
  return unknown;
}

} // namespace tw::pt2
