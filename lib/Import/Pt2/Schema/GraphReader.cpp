// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs, nodes and the facts about their values.
#include "Import/Pt2/Schema/SchemaReader.h"
#include <fmt/format.h>

namespace tw::pt2 {

Result<SymInt> readSymInt(const Json &json) {
  TW_ASSIGN(Tagged tagged, readUnion(json));
  SymInt result;
  if (tagged.tag == "as_int") {
    TW_ASSIGN(result.value, tagged.value.integer());
    return result;
  }
  if (tagged.tag != "as_expr")
    return json.error(fmt::format("unknown kind of size {}", tagged.tag));
  TW_ASSIGN(Json text, tagged.value.get("expr_str"));
  TW_ASSIGN(result.expression, text.string());
  if (result.expression.empty())
    return text.error("the expression is empty");
  if (auto hint = tagged.value.find("hint"))
    if (auto value = hint->find("as_int"); value && value->isInteger())
      result.hint = *value->integer();
  return result;
}

Result<TensorMeta> readTensorMeta(const Json &json) {
  TensorMeta meta;
  TW_ASSIGN(Json dtype, json.get("dtype"));
  TW_ASSIGN(meta.dtype, dtype.integer());
  TW_ASSIGN(Json sizes, json.get("sizes"));
  TW_TRY(readList(sizes, meta.sizes, readSymInt));
  TW_ASSIGN(Json strides, json.get("strides"));
  TW_TRY(readList(strides, meta.strides, readSymInt));
  if (auto offset = json.find("storage_offset")) {
    TW_ASSIGN(meta.storageOffset, readSymInt(*offset));
  }
  if (auto layout = json.find("layout")) {
    TW_ASSIGN(meta.layout, layout->integer());
  }
  if (meta.isStrided() && meta.strides.size() != meta.sizes.size())
    return json.error(
        fmt::format("{} sizes, but {} strides", meta.sizes.size(), meta.strides.size()));
  return meta;
}

static Result<NamedArgument> readNamedArgument(const Json &json) {
  NamedArgument result;
  TW_ASSIGN(result.name, readName(json));
  TW_ASSIGN(Json value, json.get("arg"));
  TW_ASSIGN(result.value, readArgument(value));
  constexpr int64_t keyword = 2;
  if (auto kind = json.find("kind"))
    if (auto number = kind->integer())
      result.isKeyword = *number == keyword;
  return result;
}

static std::string_view textMember(const Json &json, std::string_view key) {
  if (auto member = json.find(key))
    if (auto text = member->string())
      return *text;
  return {};
}

/// The name of the first value among `outputs`; older files do not name nodes.
static std::string_view firstName(const std::vector<Argument> &outputs) {
  for (const Argument &output : outputs) {
    if (output.isName())
      return output.text;
    if (auto name = firstName(output.elements); !name.empty())
      return name;
  }
  return {};
}

static Result<Node> readNode(const Json &json) {
  Node node;
  TW_ASSIGN(Json target, json.get("target"));
  TW_ASSIGN(node.target, target.string());
  TW_ASSIGN(Json inputs, json.get("inputs"));
  TW_TRY(readList(inputs, node.inputs, readNamedArgument));
  TW_ASSIGN(Json outputs, json.get("outputs"));
  TW_TRY(readList(outputs, node.outputs, readArgument));
  if (auto metadata = json.find("metadata")) {
    node.stackTrace = textMember(*metadata, "stack_trace");
    node.moduleStack = textMember(*metadata, "nn_module_stack");
  }
  node.name = textMember(json, "name");
  if (node.name.empty())
    node.name = firstName(node.outputs);
  node.path = json.path();
  return node;
}

Result<Graph> readGraph(const Json &json) {
  Graph graph;
  TW_ASSIGN(Json inputs, json.get("inputs"));
  TW_TRY(readList(inputs, graph.inputs, readArgument));
  TW_ASSIGN(Json outputs, json.get("outputs"));
  TW_TRY(readList(outputs, graph.outputs, readArgument));
  TW_ASSIGN(Json nodes, json.get("nodes"));
  TW_TRY(readList(nodes, graph.nodes, readNode));
  TW_ASSIGN(Json tensors, json.get("tensor_values"));
  TW_TRY(readMembers(tensors, graph.tensors, readTensorMeta));
  if (auto symInts = json.find("sym_int_values"))
    TW_TRY(readMembers(*symInts, graph.symInts, readSymInt));
  return graph;
}

} // namespace tw::pt2
