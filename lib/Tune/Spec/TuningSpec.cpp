// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tune/Spec/TuningSpec.h"
#include "Tune/Spec/TuningDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tw::tune {
using conversion::KernelFeatures;
using conversion::KernelOverride;

static ArrayAttr strings(Builder &b, const std::vector<std::string> &texts) {
  SmallVector<StringRef> all(texts.begin(), texts.end());
  return b.getStrArrayAttr(all);
}

/// What matchers look at: features, and of sizes the least and the most.
static std::pair<DictionaryAttr, DictionaryAttr> attributesOf(MLIRContext *context,
                                                              const KernelFeatures &kernel) {
  Builder b(context);
  NamedAttrList features, sizes;
  features.set("kind", b.getStringAttr(kernel.kind));
  features.set("operations", strings(b, kernel.operations));
  features.set("dtypes", strings(b, kernel.dtypes));
  features.set("weight", b.getBoolAttr(kernel.isRhsWeight));
  features.set("signature", b.getStringAttr(kernel.signature));
  features.set("number", b.getI64IntegerAttr(kernel.number));
  for (const auto &[name, range] : kernel.sizes)
    sizes.set(name, b.getDenseI64ArrayAttr({range.least, range.most}));
  return {features.getDictionary(context), sizes.getDictionary(context)};
}

ArrayAttr TuningSpec::getDecisions() const {
  return getModule()->getAttrOfType<ArrayAttr>(decisionsName);
}

bool TuningSpecs::haveRules() const {
  return llvm::any_of(specs, [](const TuningSpec &spec) { return spec.hasRules(); });
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

std::optional<KernelOverride> TuningSpec::find(const KernelFeatures &kernel) const {
  if (rules.empty()) // as the compiler's own may be, which every compilation asks
    return std::nullopt;
  auto [features, sizes] = attributesOf(getModule().getContext(), kernel);
  auto rule =
      llvm::find_if(rules, [&](const SpecRule &each) { return each.matches(features, sizes); });
  auto found = rule == rules.end() ? configurations.end() : configurations.find(rule->given);
  return found == configurations.end() ? std::nullopt : std::optional(found->second);
}

std::optional<KernelOverride> TuningSpecs::find(const KernelFeatures &kernel) {
  for (last = 0; last < specs.size(); ++last)
    if (auto found = specs[last].find(kernel))
      return found;
  return std::nullopt;
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
