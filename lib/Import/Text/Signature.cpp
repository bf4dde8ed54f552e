// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What docs/contracts.md wants at the entry: names, roles, symbols of dynamic sizes.
#include "IR/Graph/Graph.h"
#include "IR/ModelLocation.h"
#include "IR/Torch/Torch.h"
#include "Import/Text/Stages.h"
#include "Support/Size.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>

using namespace mlir;
namespace tw::text {

void flattenResults(func::FuncOp entry) {
  SmallVector<Value> flat;
  SmallVector<DictionaryAttr> attributes;
  bool changed = false;
  for (auto [index, value] : llvm::enumerate(entry.front().getTerminator()->getOperands())) {
    auto tuple = value.getDefiningOp<torch::TupleConstructOp>();
    SmallVector<Value> elements = {value};
    if (tuple)
      elements.assign(tuple.getElements().begin(), tuple.getElements().end());
    changed |= tuple != nullptr;
    flat.append(elements);
    attributes.append(elements.size(), tuple ? DictionaryAttr::get(entry.getContext())
                                             : entry.getResultAttrDict(index));
  }
  if (!changed)
    return;
  SmallVector<Value> tuples(entry.front().getTerminator()->getOperands());
  entry.removeResAttrsAttr();
  setReturned(entry, flat);
  for (Value tuple : tuples)
    if (auto op = tuple.getDefiningOp<torch::TupleConstructOp>(); op && op->use_empty())
      op.erase();
  for (auto [index, dictionary] : llvm::enumerate(attributes))
    entry.setResultAttrs(index, dictionary);
}

namespace {
/// Names that are used once.
class Names {
public:
  /// The name the text gives in `dictionary`, or else `usual`; made unique.
  std::string take(DictionaryAttr dictionary, const std::string &usual) {
    auto given = dictionary ? dictionary.getAs<StringAttr>("tw.name") : StringAttr();
    std::string base = given && !given.empty() ? given.str() : usual, name = base;
    for (int suffix = 1; !used.insert(name).second; ++suffix)
      name = fmt::format("{}_{}", base, suffix);
    return name;
  }

private:
  llvm::StringSet<> used;
};

} // namespace

/// The attributes of an argument or result without those of ours.
static NamedAttrList foreign(DictionaryAttr dictionary) {
  NamedAttrList list;
  for (NamedAttribute attribute : dictionary ? dictionary.getValue() : ArrayRef<NamedAttribute>())
    if (!attribute.getName().strref().starts_with("tw."))
      list.push_back(attribute);
  return list;
}

static void nameInterface(func::FuncOp entry) {
  Builder builder(entry.getContext());
  entry->setDiscardableAttrs(
      foreign(entry->getDiscardableAttrDictionary()).getDictionary(entry.getContext()));
  Names inputs, outputs;
  SmallVector<std::string> inputNames;
  for (unsigned index = 0; index < entry.getNumArguments(); ++index) {
    DictionaryAttr given = entry.getArgAttrDict(index);
    inputNames.push_back(inputs.take(given, fmt::format("arg{}", index)));
    NamedAttrList attributes = foreign(given);
    attributes.set("tw.name", builder.getStringAttr(inputNames.back()));
    attributes.set("tw.role", builder.getStringAttr("input"));
    entry.setArgAttrs(index, attributes.getDictionary(entry.getContext()));
  }
  for (unsigned index = 0; index < entry.getNumResults(); ++index) {
    DictionaryAttr given = entry.getResultAttrDict(index);
    // makeValueSemantic left the number of the argument here.
    auto written = given ? given.getAs<IntegerAttr>("tw.input") : IntegerAttr();
    NamedAttrList attributes = foreign(given);
    attributes.set("tw.name",
                   builder.getStringAttr(outputs.take(given, fmt::format("output_{}", index))));
    attributes.set("tw.role", builder.getStringAttr(written ? "input_mutation" : "output"));
    if (written)
      attributes.set("tw.input", builder.getStringAttr(inputNames[written.getInt()]));
    entry.setResultAttrs(index, attributes.getDictionary(entry.getContext()));
  }
}

/// Those that the text uses already.
static llvm::StringSet<> symbolNames(Operation *in) {
  llvm::StringSet<> names;
  in->walk([&](torch::SymbolicIntOp op) { names.insert(op.getSymbolName()); });
  return names;
}

void nameSymbols(ModuleOp module) {
  llvm::StringSet<> used = symbolNames(module);
  module.walk([&](torch::SymbolicIntOp op) {
    if (Size::isSymbolName(op.getSymbolName()))
      return;
    if (op.getResult().use_empty())
      return op.erase();
    std::string name = "size";
    for (int suffix = 1; !used.insert(name).second; ++suffix)
      name = fmt::format("size_{}", suffix);
    op.setSymbolName(name);
  });
}

Status checkSymbols(ModuleOp module) {
  Status status;
  module.walk([&](func::FuncOp function) {
    llvm::StringMap<torch::SymbolicIntOp> declared;
    function.walk([&](torch::SymbolicIntOp op) {
      auto [first, isNew] = declared.try_emplace(op.getSymbolName(), op);
      if (isNew || !status)
        return;
      auto range = [](torch::SymbolicIntOp symbol) {
        return fmt::format("from {} to {}", symbol.getMinVal(), symbol.getMaxVal());
      };
      Diagnostic problem =
          errorAt(op, Code::IMPORT_11,
                  fmt::format("the symbol \"{}\" is declared twice: {}, and {}",
                              op.getSymbolName().str(), range(first->second), range(op)),
                  "give the second one another name, or bind both sizes to the first");
      problem.notes.push_back("first declared at " + describePlace(first->second.getLoc()));
      status = std::move(problem);
    });
  });
  return status;
}

/// A torch.symbolic_int and a binding for the dynamic sizes of arguments that have none.
static void bindTorchSizes(func::FuncOp entry) {
  llvm::StringSet<> used = symbolNames(entry);
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.front());
  int next = 0;
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<torch::ValueTensorType>(argument.getType());
    auto isBinding = [](Operation *user) { return isa<torch::BindSymbolicShapeOp>(user); };
    if (!type || type.isStatic() || llvm::any_of(argument.getUsers(), isBinding))
      continue;
    SmallVector<Value> symbols;
    SmallVector<AffineExpr> sizes;
    for (int64_t size : type.getSizes()) {
      if (size != torch::ValueTensorType::kUnknownSize) {
        sizes.push_back(builder.getAffineConstantExpr(size));
        continue;
      }
      std::string name;
      do
        name = fmt::format("s{}", next++);
      while (!used.insert(name).second);
      sizes.push_back(builder.getAffineSymbolExpr(symbols.size()));
      symbols.push_back(torch::SymbolicIntOp::create(builder, entry.getLoc(),
                                                     torch::IntType::get(builder.getContext()),
                                                     name, 0, std::numeric_limits<int64_t>::max()));
    }
    torch::BindSymbolicShapeOp::create(
        builder, entry.getLoc(), argument, symbols,
        AffineMap::get(0, symbols.size(), sizes, builder.getContext()));
  }
}

/// tw.sizes of arguments with dynamic sizes, a symbol for each of these, and tw.symbols of the
/// function.
static void bindGraphSizes(func::FuncOp entry) {
  Builder builder(entry.getContext());
  SmallVector<Attribute> symbols;
  for (unsigned index = 0; index < entry.getNumArguments(); ++index) {
    auto type = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[index]);
    if (!type || type.hasStaticShape())
      continue;
    SmallVector<StringAttr> names;
    for (int64_t d = 0, count = type.getNumDynamicDims(); d < count; ++d) {
      names.push_back(builder.getStringAttr(fmt::format("s{}", symbols.size())));
      symbols.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("name", names.back()),
           builder.getNamedAttr("min", builder.getI64IntegerAttr(0)),
           builder.getNamedAttr("max",
                                builder.getI64IntegerAttr(std::numeric_limits<int64_t>::max()))}));
    }
    entry.setArgAttr(index, "tw.sizes",
                     graph::SizesAttr::getPlain(entry.getContext(), type.getShape(), names));
  }
  entry->setAttr("tw.symbols", builder.getArrayAttr(symbols));
}

void annotate(func::FuncOp entry, TextLevel level) {
  nameInterface(entry);
  if (level == TextLevel::Torch)
    bindTorchSizes(entry);
  else
    bindGraphSizes(entry);
}

} // namespace tw::text
