// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program returns: the user's outputs, losses, gradients, and the new values of all that it
// writes.
#include "Import/Pt2/ProgramImporter.h"
#include "Support/Counted.h"
#include <fmt/format.h>
#include <optional>

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

void ProgramImporter::import(ModuleOp module) {
  OpBuilder::InsertionGuard guard(emit.builder);
  emit.builder.setInsertionPointToEnd(module.getBody());
  function =
      func::FuncOp::create(emit.builder, emit.loc, "main", emit.builder.getFunctionType({}, {}));
  entry = function.addEntryBlock();
  emit.builder.setInsertionPointToStart(entry);
  declareSymbols();
  if (program.inputs.size() != program.graph.inputs.size()) {
    (void)graph.fail(Code::IMPORT_17, fmt::format("the signature has {}, but the graph {}",
                                                  counted(program.inputs.size(), "input"),
                                                  program.graph.inputs.size()));
    return;
  }
  for (auto [spec, input] : llvm::zip(program.inputs, program.graph.inputs))
    importInput(spec, input);
  graph.importNodes();
  importOutputs();
  if (state.problems.none())
    finish();
}

ProgramImporter::Weight *ProgramImporter::weightCalled(std::string_view name) {
  Weight *weight = weightByName.lookup(ref(name));
  if (!weight)
    (void)graph.fail(Code::IMPORT_17,
                     fmt::format("the signature speaks of {}, but no input has that name", name));
  return weight;
}

void ProgramImporter::importOutputs() {
  if (program.outputs.size() != program.graph.outputs.size()) {
    (void)graph.fail(Code::IMPORT_17, fmt::format("the signature has {}, but the graph {}",
                                                  counted(program.outputs.size(), "output"),
                                                  program.graph.outputs.size()));
    return;
  }
  outputNames = pt2::outputNames(program.outputSpec);
  // Mutations come first in the signature, but last among the results.
  auto isMutation = [](const OutputSpec &spec) {
    using K = OutputSpec::Kind;
    return spec.kind == K::BufferMutation || spec.kind == K::ParameterMutation ||
           spec.kind == K::UserInputMutation;
  };
  for (bool mutations : {false, true})
    for (const OutputSpec &spec : program.outputs) {
      if (isMutation(spec) != mutations)
        continue;
      switch (spec.kind) {
      case OutputSpec::Kind::UserOutput:
      case OutputSpec::Kind::Loss:
        importUserOutput(spec);
        break;
      case OutputSpec::Kind::GradientToParameter:
      case OutputSpec::Kind::GradientToUserInput:
        importGradient(spec);
        break;
      case OutputSpec::Kind::Unsupported:
        (void)graph.fail(Code::IMPORT_16,
                         fmt::format("outputs of the kind {} are not supported", spec.tag));
        break;
      default:
        importMutation(spec);
      }
    }
  addHiddenMutations();
  checkSharedState();
}

void ProgramImporter::importUserOutput(const OutputSpec &spec) {
  size_t index = userOutputs++;
  bool isLoss = spec.kind == OutputSpec::Kind::Loss;
  std::string name = isLoss                       ? "loss"
                     : index < outputNames.size() ? outputNames[index]
                                                  : fmt::format("output_{}", index);
  if (spec.value.kind == Kind::None || spec.value.kind == Kind::String)
    return importFixedOutput(spec.value, name);
  FailureOr<Value> value = graph.valueOf(spec.value);
  if (succeeded(value))
    results.push_back({*value, name, isLoss ? "loss" : "output", {}});
}

/// There is nothing to compute, but it has its place among the results.
void ProgramImporter::importFixedOutput(const Argument &value, const std::string &name) {
  std::optional<std::string> text;
  if (value.kind == Kind::String)
    text = value.text;
  if (text && text->find('\0') != std::string::npos) {
    (void)graph.fail(
        Code::IMPORT_16,
        fmt::format("the text {} has a zero in it, which programs do not return", name));
    return;
  }
  fixedResults.push_back({results.size() + fixedResults.size(), name, text});
}

void ProgramImporter::importGradient(const OutputSpec &spec) {
  FailureOr<Value> value = graph.valueOf(spec.value);
  if (failed(value))
    return;
  std::string name(spec.name), of = name;
  if (spec.kind != OutputSpec::Kind::GradientToUserInput)
    if (Weight *weight = weightCalled(spec.name)) {
      weight->isState = weight->isTrainable = true;
      of = weight->name.str(); // that of the first of tied ones
    }
  results.push_back({*value, "grad." + name, "gradient", {attr("tw.of", of)}});
}

/// A new value of `tensor`; what is written does not change its sizes.
static Value likeWritten(Emit &emit, Value value, const Tensor *tensor) {
  auto type = dyn_cast<ValueTensorType>(value.getType());
  return type && !type.getHasSizes() ? emit.cast(value, tensor->type) : value;
}

void ProgramImporter::importMutation(const OutputSpec &spec) {
  FailureOr<Value> value = graph.valueOf(spec.value);
  if (failed(value))
    return;
  std::string name(spec.name);
  if (spec.kind == OutputSpec::Kind::UserInputMutation) {
    Tensor *input = userInputs.lookup(ref(spec.name));
    if (!input) {
      (void)graph.fail(Code::IMPORT_17,
                       fmt::format("the signature says that {} is written, but no input has that "
                                   "name",
                                   name));
      return;
    }
    returnedMutations.insert(input);
    results.push_back(
        {likeWritten(emit, *value, input), name, "input_mutation", {attr("tw.input", name)}});
    return;
  }
  Weight *weight = weightCalled(spec.name);
  if (!weight || !returnedMutations.insert(weight->tensor).second)
    return;
  weight->isState = true;
  std::string stateName = weight->name.str();
  results.push_back({likeWritten(emit, *value, weight->tensor),
                     stateName,
                     "state",
                     {attr("tw.state", stateName)}});
}

/// What the graph wrote and the signature does not list.
void ProgramImporter::addHiddenMutations() {
  for (Weight &weight : stored)
    if (weight.tensor->isWritten() && returnedMutations.insert(weight.tensor).second) {
      weight.isState = true;
      std::string name = weight.name.str();
      results.push_back(
          {state.tensors.read(emit, weight.tensor), name, "state", {attr("tw.state", name)}});
    }
  for (auto &[name, tensor] : userInputs)
    if (tensor->isWritten() && returnedMutations.insert(tensor).second)
      results.push_back({state.tensors.read(emit, tensor),
                         name.str(),
                         "input_mutation",
                         {attr("tw.input", name.str())}});
}

/// A written buffer must not be seen through another one as well.
void ProgramImporter::checkSharedState() {
  for (Weight &written : stored)
    for (Weight &other : stored)
      if (returnedMutations.contains(written.tensor) && &written != &other &&
          written.stored.sharesMemoryWith(other.stored))
        (void)graph.fail(Code::IMPORT_15,
                         fmt::format("{} is written and shares its memory with {}",
                                     written.name.str(), other.name.str()),
                         "give each of them memory of its own (.clone())");
}

/// Turns a weight into an argument that keeps its value between calls.
void ProgramImporter::makeState(Weight &weight) {
  Value argument = addArgument(weight.tensor->type, weight.name, "state");
  arguments.back().more.push_back(
      emit.builder.getNamedAttr("tw.weight", weight.op.getSourceAttr()));
  if (weight.isTrainable)
    arguments.back().more.push_back(
        emit.builder.getNamedAttr("tw.trainable", emit.builder.getUnitAttr()));
  weight.value.replaceAllUsesWith(argument);
  for (ResultFacts &result : results)
    if (result.value == weight.value)
      result.value = argument;
  weight.value.getDefiningOp()->erase();
  weight.op.erase();
}

/// Gives the function its signature and its return.
void ProgramImporter::finish() {
  for (Weight &weight : stored)
    if (weight.isState)
      makeState(weight);
  SmallVector<Value> values;
  for (ResultFacts &result : results)
    values.push_back(result.value);
  func::ReturnOp::create(emit.builder, emit.loc, values);
  function.setFunctionType(
      emit.builder.getFunctionType(entry->getArgumentTypes(), ValueRange(values).getTypes()));
  auto dictionary = [&](auto &facts) {
    SmallVector<NamedAttribute> all = {attr("tw.name", facts.name), attr("tw.role", facts.role)};
    llvm::append_range(all, facts.more);
    return emit.builder.getDictionaryAttr(all);
  };
  for (auto [index, facts] : llvm::enumerate(arguments))
    function.setArgAttrs(index, dictionary(facts));
  for (auto [index, facts] : llvm::enumerate(results))
    function.setResultAttrs(index, dictionary(facts));
  SmallVector<Attribute> fixed;
  for (const FixedResult &result : fixedResults) {
    SmallVector<NamedAttribute> facts = {
        attr("name", result.name),
        emit.builder.getNamedAttr("position", emit.builder.getI64IntegerAttr(result.position))};
    if (result.text)
      facts.push_back(attr("text", *result.text));
    fixed.push_back(emit.builder.getDictionaryAttr(facts));
  }
  if (!fixed.empty())
    function->setAttr("tw.fixed_results", emit.builder.getArrayAttr(fixed));
}

} // namespace tw::pt2
