// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/TuningSpec.h"
#include "IR/Coded.h"
#include "Tune/Spec/TuningDialect.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tw::tune {
using conversion::KernelFeatures;
using conversion::KernelOverride;

/// What transform.annotate of a spec sets.
static constexpr StringLiteral configurationName = "configuration";

static ArrayAttr strings(Builder &b, const std::vector<std::string> &texts) {
  SmallVector<StringRef> all(texts.begin(), texts.end());
  return b.getStrArrayAttr(all);
}

/// A module with the kernel, for matchers to look at.
static OwningOpRef<ModuleOp> payloadOf(MLIRContext *context, const KernelFeatures &kernel) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  OpBuilder b = OpBuilder::atBlockBegin(module->getBody());
  NamedAttrList features, sizes;
  features.set("kind", b.getStringAttr(kernel.kind));
  features.set("operations", strings(b, kernel.operations));
  features.set("dtypes", strings(b, kernel.dtypes));
  features.set("weight", b.getBoolAttr(kernel.isRhsWeight));
  features.set("signature", b.getStringAttr(kernel.signature));
  features.set("number", b.getI64IntegerAttr(kernel.number));
  for (const auto &[name, range] : kernel.sizes)
    sizes.set(name, b.getDenseI64ArrayAttr({range.least, range.most}));
  KernelOp::create(b, module->getLoc(), features.getDictionary(context),
                   sizes.getDictionary(context));
  return module;
}

ArrayAttr TuningSpec::getDecisions() const {
  return getModule()->getAttrOfType<ArrayAttr>(decisionsName);
}

std::vector<Attribute> TuningSpecs::decisions() const {
  std::vector<Attribute> all;
  for (const TuningSpec &spec : specs)
    if (ArrayAttr rules = spec.getDecisions())
      all.insert(all.end(), rules.begin(), rules.end());
  return all;
}

StringRef TuningSpec::getTarget() const {
  return getModule()->getAttrOfType<StringAttr>(targetName).getValue();
}

FailureOr<std::optional<KernelOverride>> TuningSpec::find(const KernelFeatures &kernel) const {
  if (configurations.empty()) // as the compiler's own may be, which every compilation asks
    return std::optional<KernelOverride>();
  MLIRContext *context = getModule().getContext();
  OwningOpRef<ModuleOp> payload = payloadOf(context, kernel);
  auto main = getModule().lookupSymbol<transform::TransformOpInterface>(
      transform::TransformDialect::kTransformEntryPointSymbolName);
  std::string problem;
  LogicalResult applied = success();
  {
    ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
      if (problem.empty())
        problem = diagnostic.str();
      return success();
    });
    applied = transform::applyTransformNamedSequence(
        *payload, main, ModuleOp(), transform::TransformOptions().enableExpensiveChecks(false));
  }
  if (failed(applied)) {
    auto error = emitCoded(getModule().getLoc(), Code::TUNE_4)
                 << "the tuning spec cannot be applied: " << problem;
    error.attachNote() << "help: docs/tuning.md has the format of tuning specs";
    return failure();
  }
  Operation *seen = &payload->getBody()->front();
  auto found = configurations.find(seen->getAttr(configurationName));
  if (found == configurations.end())
    return std::optional<KernelOverride>();
  return std::optional(found->second);
}

FailureOr<std::optional<KernelOverride>> TuningSpecs::find(const KernelFeatures &kernel) {
  for (last = 0; last < specs.size(); ++last) {
    auto found = specs[last].find(kernel);
    if (failed(found) || *found)
      return found;
  }
  return std::optional<KernelOverride>();
}

void TuningSpecs::follow(const KernelOverride &rule, const std::string &why) {
  Followed &each = followed[{last, rule.place}];
  each.fits |= why.empty();
  if (each.why.empty())
    each.why = why;
}

std::vector<std::string> TuningSpecs::misfits(size_t count) const {
  std::vector<std::string> all;
  for (const auto &[rule, each] : followed)
    if (rule.first < count && !each.fits)
      all.push_back(rule.second + ": " + each.why);
  return all;
}

} // namespace tw::tune
