// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tw-configure (Passes.td).
#include "GraphToTile/Analysis/WindowOperands.h"
#include "GraphToTile/Configuration/ChosenVariants.h"
#include "GraphToTile/Configuration/ConfigurationAttr.h"
#include "GraphToTile/Configuration/CutDecisions.h"
#include "GraphToTile/Configuration/KernelFeatures.h"
#include "GraphToTile/Configuration/Overrides.h"
#include "GraphToTile/Passes.h"
#include "IR/Coded.h"
#include "Support/Counted.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include <fmt/format.h>

using namespace mlir;

namespace tw::conversion {
#define GEN_PASS_DEF_CONFIGUREDISPATCHES
#include "GraphToTile/Passes.h.inc"

namespace {

/// Chooses for one dispatch.
class Configurer {
public:
  Configurer(const ConfigurationChooser &chooser, CutDecisions &decisions,
             const DispatchCalls &calls, func::FuncOp function, const DispatchOverride *given,
             ConfigurationRules *rules)
      : chooser(chooser), decisions(decisions), calls(calls), function(function), given(given),
        rules(rules) {}

  /// Null where the dispatch gets no configuration: then `why` says it, or an error is emitted.
  tile::DispatchConfigurationAttr run(DispatchAnalysis analysis, std::string &why) {
    MLIRContext *context = function.getContext();
    SmallVector<tile::CutAttr> cuts;
    std::vector<Subkernel> kernels;
    if (given && !given->cuts.empty() && given->cuts.size() != analysis.subkernels.size())
      return wrongForm("cuts", given->cuts.size(), analysis.subkernels.size());
    for (Subkernel &subkernel : analysis.subkernels) {
      FailureOr<tile::Cut> cut = cutOf(subkernel, cuts.size());
      if (failed(cut))
        return {};
      cuts.push_back(tile::CutAttr::get(context, *cut));
      for (Subkernel &kernel : applyCut(std::move(subkernel), *cut, analysis.temporaries, chooser))
        kernels.push_back(std::move(kernel));
    }
    if (given && !given->kernels.empty() && given->kernels.size() != kernels.size())
      return wrongForm("kernels", given->kernels.size(), kernels.size());
    SmallVector<tile::ConfigurationAttr> configurations;
    for (const Subkernel &kernel : kernels) {
      configurations.push_back(configurationOf(kernel, configurations.size(), why));
      if (!configurations.back())
        return {};
    }
    return tile::DispatchConfigurationAttr::get(context, cuts, configurations);
  }

private:
  FailureOr<tile::Cut> cutOf(const Subkernel &subkernel, size_t number) {
    if (!given || given->cuts.empty())
      return decisions.choose(function, problemOf(subkernel));
    std::string why = whyNoCut(subkernel, given->cuts[number], chooser);
    if (why.empty()) {
      decisions.noteGiven(function, problemOf(subkernel), given->cuts[number]);
      return given->cuts[number];
    }
    return fail(Code::CONFIG_3, given->place + ".cuts[" + std::to_string(number) + "]", why),
           failure();
  }

  tile::ConfigurationAttr configurationOf(const Subkernel &kernel, size_t number,
                                          std::string &why) {
    ConfigurationProblem problem = problemOf(kernel);
    if (given && !given->kernels.empty())
      return configurationOf(problem, &given->kernels[number], why);
    std::optional<KernelOverride> ruled;
    if (rules)
      ruled = rules->find(featuresOf(problem, signature(), int64_t(number)));
    if (!ruled)
      return configurationOf(problem, nullptr, why);
    // A rule is for many kernels; one that it does not fit keeps what the target chooses.
    isRule = true;
    tile::ConfigurationAttr made = configurationOf(problem, &*ruled, why);
    isRule = false;
    rules->follow(*ruled, made ? "" : why);
    if (!made)
      return emitReport(function.getLoc()) << ruled->place << " does not fit: " << why,
             configurationOf(problem, nullptr, why);
    emitReport(function.getLoc()) << "configured by " << ruled->place;
    return made;
  }

  tile::ConfigurationAttr configurationOf(const ConfigurationProblem &problem,
                                          const KernelOverride *own, std::string &why) {
    auto configuration = configure(problem, own, why);
    if (!configuration)
      return {};
    SmallVector<tile::VariantAttr> variants;
    if (failed(variantsOf(problem, *configuration, own, variants, why)))
      return {};
    tile::ConfigurationAttr attribute = toAttribute(function.getContext(), *configuration, why);
    return variants.empty() ? attribute : withVariants(attribute, variants, why);
  }

  /// The target's choice with the fields given, which fits; nothing with the reason in `why`.
  /// A variant for many workers begins as `kernel`.
  std::optional<Configuration> configure(const ConfigurationProblem &problem,
                                         const FieldsOverride *own, std::string &why,
                                         const std::optional<Configuration> &kernel = {}) {
    Configuration configuration = kernel ? *kernel : chooser.choose(problem);
    if (own && own->configuration.kind != configuration.kind)
      return why = "it is of kind \"" + own->configuration.kind +
                   "\", but the kernel takes one of \"" + configuration.kind + "\"",
             fail(Code::CONFIG_3, own->place, why), std::nullopt;
    if (own) {
      why = replaceFields(configuration, own->configuration);
      if (!why.empty())
        return fail(Code::CONFIG_1, own->place, why), std::nullopt;
    }
    if (!toAttribute(function.getContext(), configuration, why)) {
      if (own)
        fail(Code::CONFIG_1, own->place, why);
      return std::nullopt;
    }
    why = violation(problem, configuration, chooser);
    if (why.empty())
      return configuration;
    if (own)
      fail(Code::CONFIG_2, own->place, why);
    return std::nullopt;
  }

  /// Those given, else those that the target chooses.
  LogicalResult variantsOf(const ConfigurationProblem &problem, const Configuration &kernel,
                           const KernelOverride *own, SmallVectorImpl<tile::VariantAttr> &variants,
                           std::string &why) {
    auto add = [&](VariantBound bound, const Configuration &made) {
      if (auto configuration = toAttribute(function.getContext(), made, why))
        variants.push_back(tile::VariantAttr::get(function.getContext(), bound.most, bound.workers,
                                                  configuration));
    };
    if (!own || !own->variants) {
      for (const Variant &chosen : chooseVariants(problem, kernel, chooser))
        add(chosen.bound, chosen.configuration);
      return success();
    }
    if (variantSymbol(problem.subkernel).empty() && !own->variants->forSizes.empty())
      return why = "there are some, but no size of the kernel is known only at the call",
             fail(Code::CONFIG_3, own->place + ".variants", why), failure();
    for (const auto &[most, fields] : own->variants->forSizes) {
      VariantProblem variant(problem, kernel, {most, 0});
      auto made = configure(variant.problem, &fields, why);
      if (!made)
        return failure();
      add({most, 0}, *made);
    }
    for (const auto &[workers, fields] : llvm::reverse(own->variants->forWorkers)) {
      VariantProblem variant(problem, kernel, {0, workers});
      auto made = configure(variant.problem, &fields, why, kernel);
      if (!made)
        return failure();
      add({0, workers}, *made);
    }
    return success();
  }

  /// Why the fields given are not those of the kernel; empty if they are.
  static std::string replaceFields(Configuration &configuration, const Configuration &by) {
    if (!by.target.empty() && by.target != configuration.target)
      return "it has fields of \"" + by.target + "\", but " +
             (configuration.target.empty()
                  ? "the target has none of its own here"
                  : "the target's are called \"" + configuration.target + "\"");
    std::string why = replace(configuration.fields, by.fields, configuration.kind);
    return why.empty() ? replace(configuration.targetFields, by.targetFields, by.target) : why;
  }

  static std::string replace(kernels::Fields &fields, const kernels::Fields &by,
                             const std::string &kind) {
    for (const auto &[name, number] : by.numbers) {
      if (auto known = fields.numbers.find(name); known != fields.numbers.end())
        known->second = number;
      else if (auto list = fields.lists.find(name); list != fields.lists.end())
        return wrongLength(name, "is no list", list->second.size());
      else
        return fmt::format("a {} configuration has no field {}", kind, name);
    }
    // A list is given as a whole: as many elements as the kernel has of it.
    for (const auto &[name, list] : by.lists) {
      auto known = fields.lists.find(name);
      std::string given = fmt::format("has {}", counted(list.size(), "element"));
      if (known == fields.lists.end() && !fields.numbers.contains(name))
        return fmt::format("a {} configuration has no field {}", kind, name);
      if (known == fields.lists.end())
        return wrongLength(name, given, std::nullopt);
      if (known->second.size() != list.size())
        return wrongLength(name, given, known->second.size());
      known->second = list;
    }
    return {};
  }

  /// Where the kernel takes a list of `wanted` elements, or one number.
  static std::string wrongLength(const std::string &name, const std::string &given,
                                 std::optional<size_t> wanted) {
    return fmt::format("field {} {}, but the kernel takes {}", name, given,
                       wanted ? fmt::format("a list of {}", *wanted) : "one number");
  }

  /// Of the dispatch, whose kernels rules ask for one after the other.
  const std::string &signature() {
    if (known.empty())
      known = dispatchSignature(function);
    return known;
  }

  ConfigurationProblem problemOf(const Subkernel &subkernel) const {
    return {subkernel, calls.isRhsWeight(function, subkernel)};
  }

  tile::DispatchConfigurationAttr wrongForm(StringRef what, size_t count, size_t wanted) {
    fail(Code::CONFIG_3, given->place + "." + what.str(),
         "there are " + std::to_string(count) + ", but the dispatch wants " +
             std::to_string(wanted));
    return {};
  }

  void fail(Code code, const std::string &place, const std::string &what) {
    if (isRule)
      return;
    auto error = emitCoded(function.getLoc(), code) << place << ": " << what;
    error.attachNote() << "help: compile without --config, with --report=json, prints a "
                          "configuration that fits; docs/configurations.md has the fields";
    hasFailed = true;
  }

public:
  bool hasFailed = false;

private:
  const ConfigurationChooser &chooser;
  CutDecisions &decisions;
  const DispatchCalls &calls;
  func::FuncOp function;
  const DispatchOverride *given;
  ConfigurationRules *rules;
  std::string known;   // signature
  bool isRule = false; // what is given is one of them: then it is no error if it does not fit
};

struct ConfigureDispatches : impl::ConfigureDispatchesBase<ConfigureDispatches> {
  ConfigureDispatches(std::shared_ptr<const ConfigurationChooser> chooser,
                      const ConfigurationOverrides *overrides, ConfigurationRules *rules)
      : chooser(std::move(chooser)), overrides(overrides), rules(rules) {}
  void getDependentDialects(DialectRegistry &registry) const override {
    ConfigureDispatchesBase::getDependentDialects(registry);
    registerConfigurations(registry);
  }

  void runOnOperation() override {
    DispatchCalls calls(getOperation());
    CutDecisions decisions(getOperation(), calls, *chooser);
    bool hasFailed = false;
    for (func::FuncOp function : calls.functions) {
      lookUpWindows(function);
      hasFailed |= configure(function, calls, decisions);
    }
    decisions.store();
    if (hasFailed)
      signalPassFailure();
  }

  /// Whether what is given for a dispatch is wrong.
  bool configure(func::FuncOp function, const DispatchCalls &calls, CutDecisions &decisions) {
    std::string why;
    FailureOr<DispatchAnalysis> analysis = calls.analyze(function, why);
    if (succeeded(analysis)) {
      Configurer configurer(*chooser, decisions, calls, function, given(function), rules);
      if (auto chosen = configurer.run(std::move(*analysis), why)) {
        function->setAttr(tile::TileDialect::configurationName, chosen);
        return false;
      }
      if (configurer.hasFailed)
        return true;
    }
    emitReport(function.getLoc()) << "runs on the reference target: " << why;
    return false;
  }

  const DispatchOverride *given(func::FuncOp function) const {
    if (!overrides || overrides->empty())
      return nullptr;
    auto found = overrides->find(dispatchSignature(function));
    return found == overrides->end() ? nullptr : &found->second;
  }

  std::shared_ptr<const ConfigurationChooser> chooser;
  const ConfigurationOverrides *overrides;
  ConfigurationRules *rules;
};

} // namespace

std::unique_ptr<Pass> createConfigureDispatches(std::shared_ptr<const ConfigurationChooser> chooser,
                                                const ConfigurationOverrides *overrides,
                                                ConfigurationRules *rules) {
  return std::make_unique<ConfigureDispatches>(std::move(chooser), overrides, rules);
}

} // namespace tw::conversion
