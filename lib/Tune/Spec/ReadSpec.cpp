// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of a spec before it is believed: it comes from a file, and what it may do is match
// kernels and give them configurations that exist.
#include "IO/File.h"
#include "IR/ModelLocation.h"
#include "Import/Text/Parse.h"
#include "Tune/Spec/EarlierFields.h"
#include "Tune/Spec/SpecRules.h"
#include "Tune/Spec/TuningDialect.h"
#include "Tune/Spec/TuningSpec.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace tw::tune {
using conversion::FieldsOverride;
using conversion::KernelOverride;

namespace {

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// A spec of an earlier version becomes one of this, so that all can be linked.
void upgrade(ModuleOp module, int64_t version) {
  if (version == fieldsVersion)
    return;
  StringRef target = module->getAttrOfType<StringAttr>(targetName).getValue();
  module.walk([&](transform::ParamConstantOp parameter) {
    if (auto dictionary = dyn_cast<DictionaryAttr>(parameter.getValue()))
      parameter.setValueAttr(withPresentFields(dictionary, version, target));
  });
  module->setAttr(versionName, Builder(module.getContext()).getI64IntegerAttr(fieldsVersion));
}

/// Reads dictionaries of fields, as a configuration file has them, against their schemas.
class FieldsReader {
public:
  explicit FieldsReader(Operation *op)
      : op(op), dialect(*op->getContext()->getOrLoadDialect<tile::TileDialect>()) {}

  Result<KernelOverride> kernel(DictionaryAttr dictionary) const {
    KernelOverride made;
    for (StringRef bound : {"at_most", "workers_at_least"})
      if (dictionary.contains(bound))
        return wrongSpec(op, fmt::format("{} is for entries of variants", bound.str()));
    TW_TRY(configuration(dictionary, made));
    auto variants = dictionary.get("variants");
    if (!variants)
      return made;
    auto list = dyn_cast<ArrayAttr>(variants);
    if (!list)
      return wrongSpec(op, "variants are a list of dictionaries, each with at_most or "
                           "workers_at_least");
    made.variants.emplace();
    for (Attribute each : list)
      TW_TRY(variant(dyn_cast<DictionaryAttr>(each), *made.variants));
    return made;
  }

private:
  Status variant(DictionaryAttr dictionary, conversion::VariantOverrides &variants) const {
    auto most = dictionary ? dictionary.getAs<IntegerAttr>("at_most") : IntegerAttr();
    auto workers = dictionary ? dictionary.getAs<IntegerAttr>("workers_at_least") : IntegerAttr();
    if (bool(most) == bool(workers) || (most && most.getInt() < 1) ||
        (workers && workers.getInt() < 2))
      return wrongSpec(op, "variants are a list of dictionaries, each with at_most, 1 or more, or "
                           "workers_at_least, 2 or more");
    auto [place, isNew] = most ? variants.forSizes.try_emplace(most.getInt())
                               : variants.forWorkers.try_emplace(workers.getInt());
    if (!isNew)
      return wrongSpec(op,
                       most ? fmt::format("a variant for sizes up to {} stands here a second time",
                                          most.getInt())
                            : fmt::format("a variant for {} workers or more stands here a second "
                                          "time",
                                          workers.getInt()));
    return configuration(dictionary, place->second);
  }

  Status configuration(DictionaryAttr dictionary, FieldsOverride &made) const {
    made.place = describePlace(op->getLoc());
    TW_TRY(fields(dictionary, made.configuration.kind, made.configuration.fields));
    auto target = dictionary.get("target");
    if (!target)
      return {};
    if (auto own = dyn_cast<DictionaryAttr>(target))
      return fields(own, made.configuration.target, made.configuration.targetFields);
    return wrongSpec(op, "target is a dictionary of the target's own fields");
  }

  Status fields(DictionaryAttr dictionary, std::string &kind, kernels::Fields &made) const {
    auto named = dictionary.getAs<StringAttr>("kind");
    const ConfigurationSchema *schema = named ? dialect.getSchema(named.getValue()) : nullptr;
    if (!schema)
      return wrongSpec(
          op, named ? fmt::format("there is no kind of configurations called \"{}\"", named.str())
                    : "a configuration has no kind, as kind = \"contraction\"");
    kind = named.str();
    constexpr StringRef others[] = {"kind", "target", "variants", "at_most", "workers_at_least"};
    for (NamedAttribute field : dictionary)
      if (!llvm::is_contained(others, field.getName()))
        TW_TRY(value(*schema, field, made));
    return {};
  }

  Status value(const ConfigurationSchema &schema, NamedAttribute field,
               kernels::Fields &made) const {
    std::string name = field.getName().str();
    const ConfigurationField *known = schema.find(name);
    if (!known)
      return wrongSpec(op, fmt::format("a {} configuration has no field {}; it has {}", schema.name,
                                       name, fmt::join(namesOf(schema), ", ")));
    if (auto list = dyn_cast<DenseI64ArrayAttr>(field.getValue());
        list && known->kind == ConfigurationField::List) {
      for (int64_t number : list.asArrayRef())
        TW_TRY(checkNumber(name, number));
      made.lists[name] = list.asArrayRef();
      return {};
    }
    auto integer = dyn_cast<IntegerAttr>(field.getValue());
    if (!integer || known->kind == ConfigurationField::List ||
        integer.getValue().getBitWidth() > 64)
      return wrongSpec(op, fmt::format("field {} is {}", name,
                                       known->kind == ConfigurationField::List
                                           ? "a list, as array<i64: 1, 2>"
                                           : "a number, or true or false"));
    auto flag = dyn_cast<BoolAttr>(field.getValue());
    made.numbers[name] = flag ? int64_t(flag.getValue()) : integer.getInt();
    return checkNumber(name, made.numbers[name]);
  }

  /// More than that depends on the kernel, whose constraints say it.
  Status checkNumber(const std::string &name, int64_t number) const {
    return number >= 0
               ? Status()
               : Status(wrongSpec(
                     op, fmt::format("field {} is {}, but no field is negative", name, number)));
  }

  static std::vector<std::string> namesOf(const ConfigurationSchema &schema) {
    std::vector<std::string> names;
    for (const ConfigurationField &field : schema.fields)
      names.push_back(field.name);
    return names;
  }

  Operation *op;
  tile::TileDialect &dialect;
};

//===----------------------------------------------------------------------===//
// Matchers
//===----------------------------------------------------------------------===//

/// Whether kernels of `kind` have the size; with an empty kind, whether any have.
bool hasSize(StringRef kind, StringRef size) {
  constexpr StringRef kinds[] = {"contraction", "convolution",        "attention",
                                 "loops",       "attention_gradient", "winograd_weights"};
  return llvm::any_of(kinds, [&](StringRef each) {
    return (kind.empty() || kind == each) &&
           llvm::any_of(conversion::sizeNames(each.str()), [&](const std::string &name) {
             return StringRef(name).ends_with("_")
                        ? size.rtrim("0123456789") == name && size.size() > name.size()
                        : size == name;
           });
  });
}

Status checkMatchers(transform::NamedSequenceOp sequence) {
  StringRef kind;
  auto *dialect = sequence.getContext()->getOrLoadDialect<tile::TileDialect>();
  for (Operation &op : sequence.getBody().front()) {
    if (auto matcher = dyn_cast<MatchKernelOp>(op)) {
      auto wanted = matcher.getFeatures().getAs<StringAttr>("kind");
      if (!wanted)
        continue;
      kind = wanted.getValue();
      if (!dialect->getSchema(kind))
        return wrongSpec(&op, fmt::format("there are no kernels of kind \"{}\"", kind.str()));
    } else if (auto matcher = dyn_cast<MatchSizeOp>(op);
               matcher && !hasSize(kind, matcher.getSize())) {
      return wrongSpec(
          &op, kind.empty() ? fmt::format("no kernel has a size called {}", matcher.getSize().str())
                            : fmt::format("kernels of kind \"{}\" have no size {}; they have {}",
                                          kind.str(), matcher.getSize().str(),
                                          fmt::join(conversion::sizeNames(kind.str()), ", ")));
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Specs match kernels and annotate them; nothing that loops, calls or changes programs.
Status checkOperations(ModuleOp module) {
  Status status;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isKnown =
        op == module || isa<transform::NamedSequenceOp, transform::YieldOp, transform::AnnotateOp,
                            transform::ParamConstantOp, MatchKernelOp, MatchSizeOp>(op);
    if (auto each = dyn_cast<transform::ForeachMatchOp>(op))
      isKnown = cast<transform::NamedSequenceOp>(each->getParentOp()).getSymName() ==
                transform::TransformDialect::kTransformEntryPointSymbolName;
    if (isKnown)
      return WalkResult::advance();
    status = wrongSpec(
        op, fmt::format("a tuning spec does not do {}", op->getName().getStringRef().str()));
    return WalkResult::interrupt();
  });
  return status;
}

Status checkEntry(ModuleOp module, const std::string &name) {
  constexpr StringLiteral entry = transform::TransformDialect::kTransformEntryPointSymbolName;
  auto main = module.lookupSymbol<transform::NamedSequenceOp>(entry);
  if (!main)
    return Diagnostic{Code::TUNE_4,
                      fmt::format("there is no transform.named_sequence @{}", entry.str()),
                      name,
                      {},
                      specHelp};
  if (main.isExternal() || main.getFunctionType().getNumInputs() != 1 ||
      main.getFunctionType().getNumResults() != 0)
    return wrongSpec(main, fmt::format("@{} takes one handle and gives nothing", entry.str()));
  Status status;
  module.walk([&](transform::AnnotateOp op) {
    if (op.getName() != "configuration")
      status = wrongSpec(
          op, fmt::format("a spec annotates kernels with \"configuration\", not with \"{}\"",
                          op.getName().str()));
  });
  return status;
}

Status checkTarget(ModuleOp module, const std::string &name, const std::string &target,
                   int64_t &version) {
  auto given = module->getAttrOfType<IntegerAttr>(versionName);
  auto wanted = module->getAttrOfType<StringAttr>(targetName);
  if (!given || !wanted)
    return Diagnostic{
        Code::TUNE_4,
        fmt::format("the module does not say {}", (given ? targetName : versionName).str()),
        name,
        {},
        specHelp};
  version = given.getInt();
  constexpr StringRef targets[] = {"cpu", "nvidia"};
  if (!llvm::is_contained(targets, wanted.getValue()))
    return Diagnostic{
        Code::TUNE_4,
        fmt::format(
            "{} is \"{}\"; specs are for {}", targetName.str(), wanted.str(),
            fmt::join(llvm::map_range(targets, [](StringRef each) { return each.str(); }), " or ")),
        name,
        {},
        specHelp};
  if (version > fieldsVersion)
    return Diagnostic{
        Code::TUNE_5,
        fmt::format("the spec has version {}, but this compiler knows versions up to {}", version,
                    fieldsVersion),
        name,
        {},
        "use a compiler as new as the one that made the spec"};
  if (!target.empty() && wanted.getValue() != target)
    return Diagnostic{Code::TUNE_5,
                      fmt::format("the spec is for {} targets, not for {}", wanted.str(), target),
                      name,
                      {},
                      "leave the spec out, or give a target of its kind"};
  return {};
}

} // namespace

Result<TuningSpec> TuningSpec::read(MLIRContext *context, const std::string &path,
                                    const std::string &target) {
  TW_ASSIGN(MappedFile file, MappedFile::open(path));
  // The file's own name, as users write places: model.tune.mlir:12:3.
  return parse(context, file.text(), path.substr(path.rfind('/') + 1), target);
}

Result<TuningSpec> TuningSpec::parse(MLIRContext *context, std::string_view text,
                                     const std::string &name, const std::string &target) {
  TuningSpec spec;
  TW_ASSIGN(spec.module, parseModule(context, text, name, Code::TUNE_4, specHelp));
  int64_t version = 0;
  TW_TRY(checkTarget(*spec.module, name, target, version));
  TW_TRY(checkEntry(*spec.module, name));
  TW_TRY(checkOperations(*spec.module));
  upgrade(*spec.module, version);
  Builder b(context);
  for (auto sequence : spec.module->getOps<transform::NamedSequenceOp>()) {
    if (sequence.isExternal())
      return wrongSpec(sequence, fmt::format("@{} has no body", sequence.getSymName().str()));
    TW_TRY(checkMatchers(sequence));
    for (auto parameter : sequence.getOps<transform::ParamConstantOp>()) {
      auto dictionary = dyn_cast<DictionaryAttr>(parameter.getValue());
      if (!dictionary)
        return wrongSpec(parameter, "a configuration is a dictionary of fields, with their kind");
      TW_ASSIGN(KernelOverride made, FieldsReader(parameter).kernel(dictionary));
      made.place += fmt::format(", @{}", sequence.getSymName().str());
      NamedAttrList placed(dictionary);
      placed.set("place", b.getStringAttr(made.place));
      parameter.setValueAttr(placed.getDictionary(context));
      spec.configurations.try_emplace(parameter.getValue(), std::move(made));
    }
  }
  TW_ASSIGN(spec.rules, readRules(*spec.module));
  return spec;
}

} // namespace tw::tune
