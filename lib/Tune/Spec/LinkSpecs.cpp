// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/LinkSpecs.h"
#include "Tune/Spec/TuningDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tw::tune {
namespace {

constexpr StringLiteral entryName = transform::TransformDialect::kTransformEntryPointSymbolName;

/// A spec's sequences beside those of the ones before it.
class Linker {
public:
  explicit Linker(MLIRContext *context)
      : linked(ModuleOp::create(UnknownLoc::get(context))), table(*linked) {}

  void add(ModuleOp module) {
    if (linked->getBody()->empty())
      linked.get()->setAttrs(module->getAttrs());
    OwningOpRef<ModuleOp> copy = module.clone();
    SymbolTable own(*copy);
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
          transform::ForeachMatchOp::create(
              inner, at, any, ValueRange(), kernels, ValueRange(),
              /*restrict_root=*/UnitAttr(), /*flatten_results=*/UnitAttr(),
              inner.getArrayAttr(matchers), inner.getArrayAttr(actions));
          transform::YieldOp::create(inner, at);
        });
    main.setArgAttr(0, transform::TransformDialect::kArgConsumedAttrName, b.getUnitAttr());
    return *linked;
  }

private:
  void collect(transform::NamedSequenceOp entry) {
    entry.walk([&](transform::ForeachMatchOp each) {
      llvm::append_range(matchers, each.getMatchers());
      llvm::append_range(actions, each.getActions());
    });
  }

  OwningOpRef<ModuleOp> linked;
  SymbolTable table;
  SmallVector<Attribute> matchers, actions;
};

/// The place of a configuration is where it stands in the new text.
void dropPlaces(ModuleOp module) {
  module.walk([&](transform::ParamConstantOp parameter) {
    NamedAttrList fields(cast<DictionaryAttr>(parameter.getValue()));
    fields.erase("place");
    parameter.setValueAttr(fields.getDictionary(module.getContext()));
  });
}

} // namespace

std::string linkSpecs(ArrayRef<TuningSpec> specs) {
  Linker linker(specs.front().getModule().getContext());
  for (const TuningSpec &spec : specs)
    linker.add(spec.getModule());
  ModuleOp module = linker.finish();
  dropPlaces(module);
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text + "\n";
}

} // namespace tw::tune
