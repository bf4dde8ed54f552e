// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/LinkSpecs.h"
#include "Tune/Spec/TuningDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tw::tune {
namespace {

constexpr StringLiteral entryName = transform::TransformDialect::kTransformEntryPointSymbolName;

/// The place of a configuration is where it stands in the new text.
static void dropPlaces(ModuleOp module) {
  module.walk([&](transform::ParamConstantOp parameter) {
    NamedAttrList fields(cast<DictionaryAttr>(parameter.getValue()));
    fields.erase("place");
    parameter.setValueAttr(fields.getDictionary(module.getContext()));
  });
}

/// Whether two sequences are the same but for their names.
static bool isSame(transform::NamedSequenceOp left, transform::NamedSequenceOp right) {
  OwningOpRef<transform::NamedSequenceOp> named = right.clone();
  (*named).setSymNameAttr(left.getSymNameAttr());
  return OperationEquivalence::isEquivalentTo(left, *named, OperationEquivalence::IgnoreLocations);
}

/// A spec's sequences beside those of the ones before it.
class Linker {
public:
  explicit Linker(MLIRContext *context)
      : linked(ModuleOp::create(UnknownLoc::get(context))), table(*linked) {}

  void add(ModuleOp module) {
    if (linked->getBody()->empty())
      linked.get()->setAttrs(module->getAttrs());
    if (auto rules = module->getAttrOfType<ArrayAttr>(decisionsName))
      decisions.insert_range(rules);
    OwningOpRef<ModuleOp> copy = module.clone();
    SymbolTable own(*copy);
    dropPlaces(*copy);
    dropRepeated(*copy, own);
    // Names that both have: the later ones change.
    for (auto sequence : copy->getOps<transform::NamedSequenceOp>())
      if (sequence.getSymName() != entryName && table.lookup(sequence.getSymName()))
        (void)own.renameToUnique(sequence, {&table});
    for (auto sequence : llvm::make_early_inc_range(copy->getOps<transform::NamedSequenceOp>())) {
      if (sequence.getSymName() == entryName) {
        collect(sequence);
        continue;
      }
      sequence->remove();
      table.insert(sequence);
    }
  }

  ModuleOp finish() {
    OpBuilder b = OpBuilder::atBlockEnd(linked->getBody());
    Location loc = linked->getLoc();
    Type any = transform::AnyOpType::get(b.getContext());
    auto main = transform::NamedSequenceOp::create(
        b, loc, entryName, any, {}, [&](OpBuilder &inner, Location at, BlockArgument kernels) {
          if (!matchers.empty()) // else there are only decisions, or nothing
            transform::ForeachMatchOp::create(
                inner, at, any, ValueRange(), kernels, ValueRange(),
                /*restrict_root=*/UnitAttr(), /*flatten_results=*/UnitAttr(),
                inner.getArrayAttr(matchers), inner.getArrayAttr(actions));
          transform::YieldOp::create(inner, at);
        });
    if (!decisions.empty())
      linked.get()->setAttr(decisionsName, b.getArrayAttr(decisions.getArrayRef()));
    main.setArgAttr(0, transform::TransformDialect::kArgConsumedAttrName, b.getUnitAttr());
    return *linked;
  }

private:
  /// What is the same as a sequence of an earlier spec is named as that one: the actions of specs
  /// that the tuner writes are all the same.
  void dropRepeated(ModuleOp module, SymbolTable &own) {
    for (auto sequence : llvm::make_early_inc_range(module.getOps<transform::NamedSequenceOp>())) {
      if (sequence.getSymName() == entryName)
        continue;
      auto same = llvm::find_if(linked->getOps<transform::NamedSequenceOp>(),
                                [&](auto earlier) { return isSame(earlier, sequence); });
      if (same == linked->getOps<transform::NamedSequenceOp>().end())
        continue;
      StringAttr name = (*same).getSymNameAttr();
      if (name != sequence.getSymNameAttr() && own.lookup(name))
        (void)own.renameToUnique(own.lookup(name), {&table});
      (void)SymbolTable::replaceAllSymbolUses(sequence, name, module);
      own.erase(sequence);
    }
  }

  void collect(transform::NamedSequenceOp entry) {
    entry.walk([&](transform::ForeachMatchOp each) {
      for (auto pair : llvm::zip_equal(each.getMatchers(), each.getActions()))
        if (listed.insert(pair).second) {
          matchers.push_back(std::get<0>(pair));
          actions.push_back(std::get<1>(pair));
        }
    });
  }

  OwningOpRef<ModuleOp> linked;
  SymbolTable table;
  SmallVector<Attribute> matchers, actions;
  llvm::SetVector<Attribute> decisions;
  llvm::DenseSet<std::tuple<Attribute, Attribute>> listed;
};

} // namespace

std::string linkSpecs(ArrayRef<TuningSpec> specs) {
  Linker linker(specs.front().getModule().getContext());
  for (const TuningSpec &spec : specs)
    linker.add(spec.getModule());
  ModuleOp module = linker.finish();
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text + "\n";
}

} // namespace tw::tune
