// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import/Pt2/Nodes/GraphImporter.h"
#include "Import/Pt2/Locations.h"
#include "Import/Pt2/Nodes/NodeImporter.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::pt2 {

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

GraphImporter::GraphImporter(ImportState &state, const Graph &graph)
    : state(state), emit(state.emit), graph(graph) {
  for (const auto &[name, meta] : graph.tensors)
    metas.try_emplace(ref(name), &meta);
}

GraphImporter::GraphImporter(GraphImporter &outer, const Graph &graph)
    : GraphImporter(outer.state, graph) {
  isAutocast = outer.isAutocast;
  node = outer.node;
}

LogicalResult GraphImporter::fail(Code code, const std::string &message, const std::string &help) {
  Diagnostic problem{code, message, state.model, {}, help};
  if (node) {
    problem.location = describePlace(emit.loc);
    if (!node->path.empty())
      problem.notes.push_back(fmt::format("in the file at {}", node->path));
  }
  return state.problems.add(std::move(problem));
}

LogicalResult GraphImporter::define(StringRef name, Binding binding) {
  if (names.try_emplace(name, binding).second)
    return success();
  return fail(Code::IMPORT_11, fmt::format("the graph defines {} twice", name.str()));
}

LogicalResult GraphImporter::rebind(StringRef name, StringRef other) {
  FailureOr<Binding> binding = lookup(other);
  if (failed(binding))
    return failure();
  names[name] = *binding;
  return success();
}

FailureOr<Binding> GraphImporter::lookup(StringRef name) {
  auto found = names.find(name);
  if (found == names.end())
    return fail(Code::IMPORT_10,
                fmt::format("{} is used, but not defined by anything before", name.str()),
                "the file is damaged: nodes must come after those they use");
  if (found->second.isPoisoned())
    return failure(); // what defines it has been reported
  return found->second;
}

FailureOr<Tensor *> GraphImporter::tensorOf(const Argument &argument) {
  if (argument.kind != Argument::Kind::Tensor)
    return fail(Code::IMPORT_12,
                fmt::format("{} is given where a tensor is expected", argument.kindText()));
  FailureOr<Binding> binding = lookup(ref(argument.text));
  if (failed(binding))
    return failure();
  if (!binding->tensor)
    return fail(Code::IMPORT_12, fmt::format("{} is not a tensor", argument.text));
  return binding->tensor;
}

FailureOr<Value> GraphImporter::valueOf(const Argument &argument) {
  using Kind = Argument::Kind;
  switch (argument.kind) {
  case Kind::None:
    return emit.none();
  case Kind::Int:
    return emit.integer(argument.integer);
  case Kind::Float:
    return emit.real(argument.real);
  case Kind::Bool:
    return emit.boolean(argument.integer);
  case Kind::String:
    return emit.string(ref(argument.text));
  case Kind::Tensor:
  case Kind::SymInt:
  case Kind::SymFloat:
  case Kind::SymBool:
    break;
  default:
    return fail(Code::IMPORT_18, fmt::format("{} cannot be used here", argument.kindText()));
  }
  FailureOr<Binding> binding = lookup(ref(argument.text));
  if (failed(binding))
    return failure();
  return binding->tensor ? state.tensors.read(emit, binding->tensor) : binding->scalar;
}

const TensorMeta *GraphImporter::metaOf(StringRef name) const { return metas.lookup(name); }

FailureOr<torch::ValueTensorType> GraphImporter::typeOf(StringRef name) {
  const TensorMeta *meta = metaOf(name);
  if (!meta)
    return fail(Code::IMPORT_10, fmt::format("the file says nothing about tensor {}", name.str()));
  Result<torch::ValueTensorType> type = tensorType(emit.context(), *meta);
  if (!type)
    return fail(type.error().code, fmt::format("tensor {}: {}", name.str(), type.error().message),
                type.error().help);
  return *type;
}

FailureOr<torch::ValueTensorType> GraphImporter::inputTypeOf(StringRef name) {
  FailureOr<torch::ValueTensorType> type = typeOf(name);
  if (failed(type) || !isComplex(*type))
    return type;
  Diagnostic error = unsupportedDType(metaOf(name)->dtype);
  return fail(error.code, fmt::format("tensor {}: {}", name.str(), error.message), error.help);
}

void GraphImporter::importNodes() {
  Location outerLoc = emit.loc;
  const Node *outerNode = node;
  for (const Node &next : graph.nodes) {
    node = &next;
    emit.loc = makeModelLoc(emit.context(), placeOf(next, state.nodeCount++, state.model));
    NodeImporter importer(*this, next);
    if (failed(importer.import()))
      importer.poisonResults();
  }
  node = outerNode;
  emit.loc = outerLoc;
}

} // namespace tw::pt2
