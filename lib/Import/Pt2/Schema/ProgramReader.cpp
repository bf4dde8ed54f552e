// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program around the graph: version, signature, ranges of symbols, payload tables.
#include "Import/Pt2/Schema/SchemaReader.h"
#include <fmt/format.h>

namespace tw::pt2 {

static Status checkVersion(const Json &root) {
  constexpr int64_t supported = 8;
  TW_ASSIGN(Json version, root.get("schema_version"));
  TW_ASSIGN(Json majorMember, version.get("major"));
  TW_ASSIGN(int64_t major, majorMember.integer());
  if (major != supported)
    return majorMember.error(fmt::format("the program has schema version {}, but only version {} "
                                         "is supported",
                                         major, supported),
                             Code::IMPORT_3);
  return {};
}

/// A constant given to the model when it was exported.
static Result<Argument> readConstant(const Json &json) {
  TW_ASSIGN(Argument value, readArgument(json));
  using Kind = Argument::Kind;
  switch (value.kind) {
  case Kind::None:
  case Kind::Int:
  case Kind::Float:
  case Kind::Bool:
  case Kind::String:
    return value;
  default:
    return json.error(fmt::format("{} cannot be a constant input", value.kindText()));
  }
}

static Result<Argument> readTensorName(const Json &json) {
  Argument result;
  result.kind = Argument::Kind::Tensor;
  TW_ASSIGN(result.text, readName(json));
  return result;
}

static Result<std::string_view> readText(const Json &json, std::string_view key) {
  TW_ASSIGN(Json member, json.get(key));
  return member.string();
}

static Result<InputSpec> readInputSpec(const Json &json) {
  using Kind = InputSpec::Kind;
  struct Row {
    std::string_view tag, nameKey;
    Kind kind;
  };
  static constexpr Row rows[] = {
      {"parameter", "parameter_name", Kind::Parameter},
      {"buffer", "buffer_name", Kind::Buffer},
      {"tensor_constant", "tensor_constant_name", Kind::TensorConstant},
  };
  TW_ASSIGN(Tagged tagged, readUnion(json));
  InputSpec spec{Kind::Unsupported, {}, {}, tagged.tag};
  if (tagged.tag == "user_input") {
    spec.kind = Kind::UserInput;
    TW_ASSIGN(Json value, tagged.value.get("arg"));
    TW_ASSIGN(spec.value, readArgument(value));
  } else if (tagged.tag == "constant_input") {
    spec.kind = Kind::ConstantInput;
    TW_ASSIGN(spec.name, readName(tagged.value));
    TW_ASSIGN(Json value, tagged.value.get("value"));
    TW_ASSIGN(spec.value, readConstant(value));
  }
  for (const Row &row : rows)
    if (row.tag == tagged.tag) {
      spec.kind = row.kind;
      TW_ASSIGN(Json value, tagged.value.get("arg"));
      TW_ASSIGN(spec.value, readTensorName(value));
      TW_ASSIGN(spec.name, readText(tagged.value, row.nameKey));
    }
  return spec;
}

static Result<OutputSpec> readOutputSpec(const Json &json) {
  using Kind = OutputSpec::Kind;
  struct Row {
    std::string_view tag, nameKey;
    Kind kind;
  };
  static constexpr Row rows[] = {
      {"user_output", "", Kind::UserOutput},
      {"loss_output", "", Kind::Loss},
      {"buffer_mutation", "buffer_name", Kind::BufferMutation},
      {"parameter_mutation", "parameter_name", Kind::ParameterMutation},
      {"user_input_mutation", "user_input_name", Kind::UserInputMutation},
      {"gradient_to_parameter", "parameter_name", Kind::GradientToParameter},
      {"gradient_to_user_input", "user_input_name", Kind::GradientToUserInput},
  };
  TW_ASSIGN(Tagged tagged, readUnion(json));
  OutputSpec spec{Kind::Unsupported, {}, {}, tagged.tag};
  for (const Row &row : rows)
    if (row.tag == tagged.tag) {
      spec.kind = row.kind;
      TW_ASSIGN(Json value, tagged.value.get("arg"));
      if (spec.kind == Kind::UserOutput) {
        TW_ASSIGN(spec.value, readArgument(value));
      } else {
        TW_ASSIGN(spec.value, readTensorName(value));
      }
      if (!row.nameKey.empty()) {
        TW_ASSIGN(spec.name, readText(tagged.value, row.nameKey));
      }
    }
  return spec;
}

static Result<Range> readRange(const Json &json) {
  Range range;
  // Bounds beyond 64 bits stand for infinity.
  if (auto min = json.find("min_val"); min && min->isInteger())
    range.min = *min->integer();
  if (auto max = json.find("max_val"); max && max->isInteger())
    range.max = *max->integer();
  return range;
}

/// The pytree description of what the model returns; it only gives outputs their names.
static std::string_view findOutputSpec(const Json &graphModule) {
  std::string_view found;
  if (auto calls = graphModule.find("module_call_graph"))
    (void)calls->forEach([&](Json entry) -> Status {
      auto fqn = entry.find("fqn");
      auto signature = entry.find("signature");
      if (fqn && signature && fqn->isString() && fqn->string()->empty())
        if (auto spec = signature->find("out_spec"); spec && spec->isString())
          found = *spec->string();
      return {};
    });
  return found;
}

Result<Program> readProgram(const JsonDocument &document) {
  Program program;
  Json root = document.root();
  TW_TRY(checkVersion(root));
  TW_ASSIGN(Json graphModule, root.get("graph_module"));
  TW_ASSIGN(Json graph, graphModule.get("graph"));
  TW_ASSIGN(program.graph, readGraph(graph));
  TW_ASSIGN(Json signature, graphModule.get("signature"));
  TW_ASSIGN(Json inputs, signature.get("input_specs"));
  TW_TRY(readList(inputs, program.inputs, readInputSpec));
  TW_ASSIGN(Json outputs, signature.get("output_specs"));
  TW_TRY(readList(outputs, program.outputs, readOutputSpec));
  if (auto ranges = root.find("range_constraints"))
    TW_TRY(readMembers(*ranges, program.ranges, readRange));
  if (auto version = root.find("torch_version"); version && version->isString())
    program.torchVersion = *version->string();
  program.outputSpec = findOutputSpec(graphModule);
  return program;
}

static Result<Payload> readPayload(const Json &json) {
  Payload payload;
  TW_ASSIGN(payload.pathName, readText(json, "path_name"));
  TW_ASSIGN(Json pickled, json.get("use_pickle"));
  TW_ASSIGN(payload.isPickled, pickled.boolean());
  if (auto meta = json.find("tensor_meta")) {
    payload.hasMeta = true;
    TW_ASSIGN(payload.meta, readTensorMeta(*meta));
  }
  return payload;
}

Result<Named<Payload>> readPayloads(const JsonDocument &document) {
  Named<Payload> payloads;
  TW_ASSIGN(Json config, document.root().get("config"));
  TW_TRY(readMembers(config, payloads, readPayload));
  return payloads;
}

} // namespace tw::pt2
