// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators on lists of tensors, _foreach_mul and its like: an operator for each element.
#include "Import/Pt2/Nodes/NodeImporter.h"

using namespace mlir;
using namespace tw::torch;

namespace tw::pt2 {

using Kind = Argument::Kind;

static StringRef ref(std::string_view text) { return {text.data(), text.size()}; }

/// The operator of an element where it is not that of the same name with the overload that takes a
/// number or a tensor.
struct ForEachRow {
  StringRef lists, element;
};
static constexpr ForEachRow rows[] = {
    {"addcdiv.Scalar", "addcdiv"},         {"addcdiv.ScalarList", "addcdiv"},
    {"addcmul.Scalar", "addcmul"},         {"addcmul.ScalarList", "addcmul"},
    {"clamp_max.Scalar", "clamp_max"},     {"clamp_max.ScalarList", "clamp_max"},
    {"clamp_min.Scalar", "clamp_min"},     {"clamp_min.ScalarList", "clamp_min"},
    {"maximum.List", "maximum"},           {"maximum.Scalar", "clamp_min"},
    {"maximum.ScalarList", "clamp_min"},   {"minimum.List", "minimum"},
    {"minimum.Scalar", "clamp_max"},       {"minimum.ScalarList", "clamp_max"},
    {"norm.Scalar", "linalg_vector_norm"}, {"pow.List", "pow.Tensor_Tensor"},
    {"pow.Scalar", "pow.Tensor_Scalar"},   {"pow.ScalarList", "pow.Tensor_Scalar"},
    {"pow.ScalarAndTensor", "pow.Scalar"}};

/// Null when there is none.
static const Schema *elementSchema(StringRef lists) {
  auto [base, overload] = lists.split('.');
  std::string element = base.str();
  if (overload == "List" || overload == "Tensor")
    element += ".Tensor";
  else if (!overload.empty())
    element += ".Scalar";
  for (const ForEachRow &row : rows)
    if (row.lists == lists)
      element = row.element.str();
  return lookupSchema("torch.aten." + element);
}

/// What an element's operator calls argument `number` of the lists', which is called `name`.
static std::string_view elementName(const Schema &element, std::string_view name, size_t number) {
  auto arguments = element.arguments();
  auto isCalled = [&](const auto &argument) { return argument.name == ref(name); };
  if (llvm::any_of(arguments, isCalled) || number >= arguments.size())
    return name;
  StringRef own = arguments[number].name;
  return {own.data(), own.size()};
}

std::optional<LogicalResult> NodeImporter::importForEach(const Schema &schema) {
  StringRef name = schema.opName;
  if (!name.consume_front("torch.aten._foreach_") || schema.has(Flag::Mutates))
    return std::nullopt;
  const Schema *element = elementSchema(name);
  if (!element || node.outputs.size() != 1 || node.outputs[0].kind != Kind::List)
    return std::nullopt;
  llvm::ArrayRef<Argument> outputs(node.outputs[0].elements);
  Node one = node; // of each element in turn: lists are not copied for each
  for (auto [number, given] : llvm::enumerate(one.inputs)) {
    given.name = elementName(*element, given.name, number);
    if (given.value.kind != Kind::List)
      continue;
    if (given.value.elements.size() < outputs.size())
      return std::nullopt;
    given.value = Argument();
  }
  for (auto [index, output] : llvm::enumerate(outputs)) {
    one.outputs = {output};
    for (auto [given, lists] : llvm::zip(one.inputs, node.inputs))
      if (lists.value.kind == Kind::List)
        given.value = Argument(lists.value.elements[index]);
    if (failed(NodeImporter(graph, one).importOperator(*element)))
      return failure();
  }
  return success();
}

} // namespace tw::pt2
