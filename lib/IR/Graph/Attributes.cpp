// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier of attributes `tw.*` on other dialects' operations, and on arguments and results of
// functions (docs/contracts.md): one table says where each may stand and what it holds.
#include "IR/ElementDType.h"
#include "IR/Graph/Decisions.h"
#include "IR/Graph/Graph.h"
#include "IR/Graph/Values.h"
#include "Support/Counted.h"
#include "Support/DType.h"
#include "Support/Size.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tw::graph {
namespace {

enum class Holder { Module, Function, Operation, Argument, Result };

constexpr StringLiteral holderNames[] = {"a module", "a function", "an operation",
                                         "an argument of a function", "a result of a function"};

struct AttributeRule {
  StringLiteral name;
  Holder holder;
  bool (*holds)(Attribute);
  StringLiteral what;
  StringLiteral operation = ""; // the one that it is for, where it is not for all
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

template <typename Kind>
bool hasField(DictionaryAttr fields, StringRef name) {
  return isa_and_nonnull<Kind>(fields.get(name));
}

bool isSymbol(DictionaryAttr symbol) {
  auto name = symbol.getAs<StringAttr>("name");
  auto least = symbol.getAs<IntegerAttr>("min"), most = symbol.getAs<IntegerAttr>("max");
  return name && Size::isSymbolName(name.getValue()) && least && most && least.getInt() >= 0 &&
         least.getInt() <= most.getInt();
}

bool isSymbols(Attribute value) {
  llvm::DenseSet<Attribute> names;
  return isArrayOf<DictionaryAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value).getAsRange<DictionaryAttr>(), [&](auto symbol) {
           return isSymbol(symbol) && names.insert(symbol.get("name")).second;
         });
}

bool isDType(Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  return name && parseDType(name.getValue());
}

/// Each about as many operators as its kind takes, and no two about the same ones.
bool isDecisions(Attribute value) {
  llvm::DenseSet<Attribute> subjects;
  auto isSound = [&](DecisionAttr decision) {
    auto [least, most] = operatorCount(decision.getKind());
    size_t count = decision.getOperators().size();
    auto subject = DecisionAttr::get(decision.getContext(), decision.getKind(),
                                     decision.getOperators(), /*taken=*/true, StringAttr());
    return count >= least && count <= most && subjects.insert(subject).second;
  };
  return isArrayOf<DecisionAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value).getAsRange<DecisionAttr>(), isSound);
}

bool isDecisionRules(Attribute value) {
  return isArrayOf<DictionaryAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value),
                      [](Attribute rule) { return whyNoDecisionRule(rule).empty(); });
}

bool isFixedResults(Attribute value) {
  llvm::DenseSet<int64_t> positions;
  return isArrayOf<DictionaryAttr>(value) &&
         llvm::all_of(cast<ArrayAttr>(value).getAsRange<DictionaryAttr>(), [&](auto result) {
           auto position = result.template getAs<IntegerAttr>("position");
           return hasField<StringAttr>(result, "name") && position && position.getInt() >= 0 &&
                  positions.insert(position.getInt()).second;
         });
}

bool isArgumentRole(Attribute value) {
  auto role = dyn_cast<StringAttr>(value);
  return role && llvm::is_contained({"input", "state"}, role.getValue());
}

bool isResultRole(Attribute value) {
  auto role = dyn_cast<StringAttr>(value);
  return role && llvm::is_contained({"output", "loss", "gradient", "state", "input_mutation"},
                                    role.getValue());
}

constexpr StringLiteral aText = "a text", aName = "the name of an argument",
                        decisionList = "an array of #tw.decision, each with as many operators as "
                                       "its kind takes, no two of them about the same";

constexpr AttributeRule rules[] = {
    {wantedDecisionsName, Holder::Module, isDecisions, decisionList},
    {decisionsName, Holder::Module, isDecisions, decisionList},
    {decisionRulesName, Holder::Module, isDecisionRules,
     "an array of {decision, operations, want}, maybe with types"},
    {operatorTypesName, Holder::Module, is<DictionaryAttr>, "a dictionary of texts"},
    {"tw.kernel", Holder::Function, is<UnitAttr>, "a unit"},
    {"tw.symbols", Holder::Function, isSymbols,
     "an array of dictionaries {name, min, max} of distinct names, with 0 <= min <= max"},
    {"tw.fixed_results", Holder::Function, isFixedResults,
     "an array of dictionaries {name, position}, maybe with a text, of distinct positions from 0 "
     "on"},
    {valuesName, Holder::Operation, isArrayOf<ValueAttr>, "an array of #tw.value"},
    {innerName, Holder::Operation, isArrayOf<ValueAttr>, "an array of #tw.value"},
    {configuredName, Holder::Operation, isArrayOf<StringAttr>, "an array of names", "tw.dispatch"},
    {"tw.arguments", Holder::Operation, isArrayOf<StringAttr>, "an array of names",
     "torch.operator"},
    {"tw.while", Holder::Operation, is<UnitAttr>, "a unit", "scf.for"},
    {"tw.name", Holder::Argument, is<StringAttr>, aText},
    {"tw.role", Holder::Argument, isArgumentRole, "a role, \"input\" or \"state\""},
    {"tw.sizes", Holder::Argument, is<SizesAttr>, "a #tw.sizes"},
    {"tw.dtype", Holder::Argument, isDType, "the name of a dtype"},
    {"tw.symbol", Holder::Argument, is<StringAttr>, "the name of a symbol"},
    {"tw.weight", Holder::Argument, is<WeightAttr>, "a #tw.weight"},
    {"tw.trainable", Holder::Argument, is<UnitAttr>, "a unit"},
    {"tw.name", Holder::Result, is<StringAttr>, aText},
    {"tw.sizes", Holder::Result, is<SizesAttr>, "a #tw.sizes"},
    {"tw.role", Holder::Result, isResultRole, "a role, as \"output\" or \"gradient\""},
    {"tw.dtype", Holder::Result, isDType, "the name of a dtype"},
    {"tw.of", Holder::Result, is<StringAttr>, aName},
    {"tw.state", Holder::Result, is<StringAttr>, aName},
    // A number while a text is being read, whose arguments have no names yet.
    {"tw.input", Holder::Result, is<StringAttr, IntegerAttr>, aName},
};

LogicalResult verifyAt(Operation *op, NamedAttribute attribute, Holder holder) {
  StringRef name = attribute.getName();
  const auto *rule = llvm::find_if(
      rules, [&](const AttributeRule &r) { return r.name == name && r.holder == holder; });
  if (rule == std::end(rules))
    return op->emitOpError() << "has an attribute " << name << ", which does not belong on "
                             << holderNames[size_t(holder)];
  if (!rule->operation.empty() && op->getName().getStringRef() != rule->operation)
    return op->emitOpError() << "has an attribute " << name << ", which only " << rule->operation
                             << " has";
  if (!rule->holds(attribute.getValue()))
    return op->emitOpError() << name << " is " << rule->what << ", but is " << attribute.getValue();
  return success();
}

/// Fixed results stand among those of the function, so no position is behind all of them.
LogicalResult verifyFixedResults(FunctionOpInterface function, ArrayAttr fixed) {
  int64_t count = int64_t(function.getNumResults() + fixed.size());
  for (auto result : fixed.getAsRange<DictionaryAttr>())
    if (int64_t position = result.getAs<IntegerAttr>("position").getInt(); position >= count)
      return function.emitOpError() << "tw.fixed_results has a result at position " << position
                                    << ", but there are " << count << " in all";
  return success();
}

/// `tw.values` names results that there are, and values of their elements.
LogicalResult verifyValues(Operation *op, ArrayAttr values) {
  for (auto value : values.getAsRange<ValueAttr>()) {
    if (value.getResult() < 0 || value.getResult() >= int64_t(op->getNumResults()))
      return op->emitOpError() << "tw.values names result " << value.getResult()
                               << ", but there are " << op->getNumResults();
    auto type = dyn_cast<RankedTensorType>(op->getResult(unsigned(value.getResult())).getType());
    if (type && type.getElementType() != value.getType().getElementType())
      return op->emitOpError() << "tw.values: result " << value.getResult() << " is " << type
                               << ", but value " << value.getNumber() << " is " << value.getType();
  }
  return success();
}

/// A loop that may end early carries the flag that says so, last.
LogicalResult verifyWhile(scf::ForOp loop) {
  ValueRange carried = loop.getRegionIterArgs();
  if (carried.empty() || !carried.back().getType().isInteger(1))
    return loop.emitOpError("has an attribute tw.while, but carries no i1 last");
  return success();
}

/// Whether a function has the symbol: in `tw.symbols`, or before it is lowered in an operation.
bool hasSymbol(FunctionOpInterface function, StringAttr name) {
  if (auto symbols = function->getAttrOfType<ArrayAttr>("tw.symbols"))
    return llvm::any_of(symbols.getAsRange<DictionaryAttr>(),
                        [&](auto symbol) { return symbol.get("name") == name; });
  WalkResult result = function->walk([&](Operation *op) {
    bool declares =
        op->getName().getStringRef() == "torch.symbolic_int" && op->getAttr("symbol_name") == name;
    return declares ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

LogicalResult verifySymbol(FunctionOpInterface function, unsigned argument, StringAttr name) {
  Type type = function.getArgumentTypes()[argument];
  if (isa<ShapedType, FloatType>(type))
    return function.emitOpError() << "tw.symbol of argument " << argument
                                  << " is an integer, but the argument is " << type;
  if (hasSymbol(function, name))
    return success();
  return function.emitOpError() << "tw.symbol of argument " << argument << " is " << name
                                << ", which is no symbol of the function";
}

/// Attributes of results that name an argument, and the role that it has.
constexpr struct {
  StringLiteral attribute, role;
} references[] = {{"tw.of", ""}, {"tw.state", "state"}, {"tw.input", "input"}};

LogicalResult verifyReference(FunctionOpInterface function, unsigned result, StringRef attribute,
                              StringAttr name) {
  const auto *reference =
      llvm::find_if(references, [&](auto &each) { return each.attribute == attribute; });
  if (reference == std::end(references) || !name)
    return success();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto role = function.getArgAttrOfType<StringAttr>(i, "tw.role");
    if (function.getArgAttr(i, "tw.name") == name &&
        (reference->role.empty() || (role && role.getValue() == reference->role)))
      return success();
  }
  return function.emitOpError() << attribute << " of result " << result << " is " << name
                                << ", which names no argument"
                                << (reference->role.empty() ? "" : " whose role is ")
                                << reference->role;
}

/// `tw.sizes` of a tensor has a result for each dimension, and only symbols of its function.
LogicalResult verifySizes(FunctionOpInterface function, const Twine &where, Type type,
                          SizesAttr sizes) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  int64_t count = sizes.getMap().getNumResults();
  if (!tensor || tensor.getRank() != count)
    return function.emitOpError() << "tw.sizes of " << where << " has " << counted(count, "size")
                                  << ", but it is a " << type;
  for (StringAttr name : sizes.getSymbols())
    if (!function->hasAttr("tw.symbols") || !hasSymbol(function, name))
      return function.emitOpError()
             << "tw.sizes of " << where << " names " << name << ", which is none of tw.symbols";
  return success();
}

/// A dtype says of elements whose type is known only how they are to be read: u8 is an i8.
LogicalResult verifyDType(FunctionOpInterface function, const Twine &where, Type type,
                          StringAttr name) {
  auto known = dtypeOf(getElementTypeOrSelf(type)), said = parseDType(name.getValue());
  bool isByte = known == DType::I8 && said == DType::U8;
  if (!known || known == said || isByte)
    return success();
  return function.emitOpError() << "tw.dtype of " << where << " is " << name << ", but the type is "
                                << type;
}

/// What a run changes is state.
LogicalResult verifyTrainable(FunctionOpInterface function, unsigned argument) {
  auto role = function.getArgAttrOfType<StringAttr>(argument, "tw.role");
  if (role && role.getValue() == "state")
    return success();
  return function.emitOpError() << "argument " << argument
                                << " has an attribute tw.trainable, but its role is not state";
}

} // namespace

LogicalResult SizesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<StringAttr> symbols, AffineMap map) {
  if (map.getNumDims() != 0 || map.getNumSymbols() != symbols.size())
    return emitError() << "#tw.sizes has a map of " << map.getNumDims() << " dimensions and "
                       << map.getNumSymbols() << " symbols, but names " << symbols.size()
                       << " symbols and has no dimensions";
  for (StringAttr name : symbols)
    if (!Size::isSymbolName(name.getValue()))
      return emitError() << "#tw.sizes names " << name << ", which cannot be a symbol's name";
  return success();
}

SizesAttr SizesAttr::getPlain(MLIRContext *context, ArrayRef<int64_t> shape,
                              ArrayRef<StringAttr> dynamic) {
  llvm::SmallSetVector<StringAttr, 4> names(dynamic.begin(), dynamic.end());
  SmallVector<AffineExpr> sizes;
  const StringAttr *next = dynamic.begin();
  for (int64_t size : shape)
    sizes.push_back(
        ShapedType::isDynamic(size)
            ? getAffineSymbolExpr(unsigned(llvm::find(names, *next++) - names.begin()), context)
            : getAffineConstantExpr(size, context));
  return get(context, names.getArrayRef(), AffineMap::get(0, names.size(), sizes, context));
}

LogicalResult TWDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  Holder holder = isa<ModuleOp>(op)              ? Holder::Module
                  : isa<FunctionOpInterface>(op) ? Holder::Function
                                                 : Holder::Operation;
  if (failed(verifyAt(op, attribute, holder)))
    return failure();
  if (attribute.getName() == "tw.fixed_results")
    return verifyFixedResults(cast<FunctionOpInterface>(op), cast<ArrayAttr>(attribute.getValue()));
  if (attribute.getName() == valuesName)
    return verifyValues(op, cast<ArrayAttr>(attribute.getValue()));
  if (attribute.getName() == "tw.while")
    return verifyWhile(cast<scf::ForOp>(op));
  return success();
}

LogicalResult TWDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                  NamedAttribute attribute) {
  if (failed(verifyAt(op, attribute, Holder::Argument)))
    return failure();
  auto function = cast<FunctionOpInterface>(op);
  if (auto sizes = dyn_cast<SizesAttr>(attribute.getValue()))
    return verifySizes(function, "argument " + Twine(argument),
                       function.getArgumentTypes()[argument], sizes);
  if (attribute.getName() == "tw.symbol")
    return verifySymbol(function, argument, cast<StringAttr>(attribute.getValue()));
  if (attribute.getName() == "tw.dtype")
    return verifyDType(function, "argument " + Twine(argument),
                       function.getArgumentTypes()[argument],
                       cast<StringAttr>(attribute.getValue()));
  if (attribute.getName() == "tw.trainable")
    return verifyTrainable(function, argument);
  return success();
}

LogicalResult TWDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                     NamedAttribute attribute) {
  if (failed(verifyAt(op, attribute, Holder::Result)))
    return failure();
  auto function = cast<FunctionOpInterface>(op);
  if (auto sizes = dyn_cast<SizesAttr>(attribute.getValue()))
    return verifySizes(function, "result " + Twine(result), function.getResultTypes()[result],
                       sizes);
  if (attribute.getName() == "tw.dtype")
    return verifyDType(function, "result " + Twine(result), function.getResultTypes()[result],
                       cast<StringAttr>(attribute.getValue()));
  return verifyReference(function, result, attribute.getName(),
                         dyn_cast<StringAttr>(attribute.getValue()));
}

} // namespace tw::graph
