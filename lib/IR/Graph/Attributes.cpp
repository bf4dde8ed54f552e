// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier of attributes `tw.*` on other dialects' operations, and on arguments and results of
// functions (docs/contracts.md): one table says where each may stand and what it holds.
#include "IR/Graph/Decisions.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tw::graph {
namespace {

enum class Place { Module, Function, Operation, Argument, Result };

constexpr StringLiteral placeNames[] = {"a module", "a function", "an operation",
                                        "an argument of a function", "a result of a function"};

struct AttributeRule {
  StringLiteral name;
  Place place;
  bool (*holds)(Attribute);
  StringLiteral what;
};

template <typename... Kinds>
bool is(Attribute value) {
  return isa<Kinds...>(value);
}

template <typename Element>
bool isArrayOf(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<Element>);
}

bool isSizes(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  return array && llvm::all_of(array, llvm::IsaPred<IntegerAttr, StringAttr>);
}

template <typename Kind>
bool hasField(DictionaryAttr fields, StringRef name) {
  return isa_and_nonnull<Kind>(fields.get(name));
}

bool isSymbols(Attribute value) {
  return isArrayOf<DictionaryAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value).getAsRange<DictionaryAttr>(), [](auto symbol) {
           return hasField<StringAttr>(symbol, "name") && hasField<IntegerAttr>(symbol, "min") &&
                  hasField<IntegerAttr>(symbol, "max");
         });
}

bool isFixedResults(Attribute value) {
  return isArrayOf<DictionaryAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value).getAsRange<DictionaryAttr>(), [](auto result) {
           return hasField<StringAttr>(result, "name") && hasField<IntegerAttr>(result, "position");
         });
}

bool isRole(Attribute value) {
  auto role = dyn_cast<StringAttr>(value);
  return role &&
         llvm::is_contained({"input", "state", "output", "loss", "gradient", "input_mutation"},
                            role.getValue());
}

constexpr StringLiteral aText = "a text", aName = "the name of an argument";

constexpr AttributeRule rules[] = {
    {wantedDecisionsName, Place::Module, isArrayOf<DecisionAttr>, "an array of #tw.decision"},
    {decisionsName, Place::Module, isArrayOf<DecisionAttr>, "an array of #tw.decision"},
    {"tw.kernel", Place::Function, is<UnitAttr>, "a unit"},
    {"tw.symbols", Place::Function, isSymbols, "an array of dictionaries {name, min, max}"},
    {"tw.fixed_results", Place::Function, isFixedResults,
     "an array of dictionaries {name, position}, maybe with a text"},
    {valuesName, Place::Operation, isArrayOf<ValueAttr>, "an array of #tw.value"},
    {innerName, Place::Operation, isArrayOf<ValueAttr>, "an array of #tw.value"},
    {configuredName, Place::Operation, isArrayOf<StringAttr>, "an array of names"},
    {"tw.arguments", Place::Operation, isArrayOf<StringAttr>, "an array of names"},
    {"tw.while", Place::Operation, is<UnitAttr>, "a unit"},
    {"tw.name", Place::Argument, is<StringAttr>, aText},
    {"tw.role", Place::Argument, isRole, "a role, as \"input\" or \"state\""},
    {"tw.sizes", Place::Argument, isSizes, "an array of numbers and expressions of symbols"},
    {"tw.dtype", Place::Argument, is<StringAttr>, "the name of a dtype"},
    {"tw.symbol", Place::Argument, is<StringAttr>, "the name of a symbol"},
    {"tw.weight", Place::Argument, is<WeightAttr>, "a #tw.weight"},
    {"tw.trainable", Place::Argument, is<UnitAttr>, "a unit"},
    {"tw.name", Place::Result, is<StringAttr>, aText},
    {"tw.role", Place::Result, isRole, "a role, as \"output\" or \"gradient\""},
    {"tw.sizes", Place::Result, isSizes, "an array of numbers and expressions of symbols"},
    {"tw.dtype", Place::Result, is<StringAttr>, "the name of a dtype"},
    {"tw.of", Place::Result, is<StringAttr>, aName},
    {"tw.state", Place::Result, is<StringAttr>, aName},
    // A number while a text is being read, whose arguments have no names yet.
    {"tw.input", Place::Result, is<StringAttr, IntegerAttr>, aName},
};

LogicalResult verifyAt(Operation *op, NamedAttribute attribute, Place place) {
  StringRef name = attribute.getName();
  const auto *rule = llvm::find_if(
      rules, [&](const AttributeRule &r) { return r.name == name && r.place == place; });
  if (rule == std::end(rules))
    return op->emitOpError() << "has an attribute " << name << ", which does not belong on "
                             << placeNames[size_t(place)];
  if (!rule->holds(attribute.getValue()))
    return op->emitOpError() << name << " is " << rule->what << ", but is " << attribute.getValue();
  return success();
}

} // namespace

LogicalResult TWDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  Place place = isa<ModuleOp>(op)              ? Place::Module
                : isa<FunctionOpInterface>(op) ? Place::Function
                                               : Place::Operation;
  return verifyAt(op, attribute, place);
}

LogicalResult TWDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                  NamedAttribute attribute) {
  return verifyAt(op, attribute, Place::Argument);
}

LogicalResult TWDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return verifyAt(op, attribute, Place::Result);
}

} // namespace tw::graph
