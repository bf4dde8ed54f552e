// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphToTile/Configuration/ChosenVariants.h"
#include <algorithm>

namespace tw::conversion {

/// What a kernel for fewer rows must save of the time of that for more: its code takes room, and
/// time to compile.
static constexpr double leastVariantGain = 0.01;

std::string violation(const ConfigurationProblem &problem, const Configuration &configuration,
                      const ConfigurationChooser &chooser) {
  kernels::Numbers values = configuration.symbols();
  for (const auto &constraints : {spaceOf(problem).constraints, chooser.constraints(problem)})
    if (const Constraint *violated = firstViolated(constraints, values))
      return describe(*violated, values, configuration.fields.texts());
  return {};
}

/// Whether fewer rows are enough faster in a kernel of their own than in the one for more rows.
static bool isWorthwhile(const ConfigurationProblem &problem, const Configuration &own,
                         const Configuration &larger, const ConfigurationChooser &chooser) {
  if (own == larger)
    return false;
  std::optional<double> cost = chooser.cost(problem, own),
                        othersCost = chooser.cost(problem, larger);
  return !cost || !othersCost || *cost < (1 - leastVariantGain) * *othersCost;
}

static std::vector<Variant> chooseForSizes(const ConfigurationProblem &problem,
                                           const Configuration &kernel,
                                           const ConfigurationChooser &chooser) {
  std::vector<Variant> made;
  if (variantSymbol(problem.subkernel).empty())
    return made;
  std::vector<int64_t> sizes = chooser.variantSizes(problem);
  for (int64_t most : llvm::reverse(sizes)) {
    const Configuration &larger = made.empty() ? kernel : made.back().configuration;
    VariantProblem variant(problem, kernel, {most, 0});
    Configuration own = chooser.choose(variant.problem);
    if (violation(variant.problem, own, chooser).empty() &&
        isWorthwhile(variant.problem, own, larger, chooser))
      made.push_back({{most, 0}, std::move(own)});
  }
  std::ranges::reverse(made);
  return made;
}

std::vector<Variant> chooseVariants(const ConfigurationProblem &problem,
                                    const Configuration &kernel,
                                    const ConfigurationChooser &chooser) {
  std::vector<Variant> made = chooseForSizes(problem, kernel, chooser);
  if (!made.empty())
    return made;
  auto chosen = chooser.chooseForWorkers(problem, kernel);
  if (!chosen)
    return made;
  VariantBound bound{0, chosen->workers};
  VariantProblem variant(problem, kernel, bound);
  if (violation(variant.problem, chosen->configuration, chooser).empty())
    made.push_back({bound, std::move(chosen->configuration)});
  return made;
}

/// The target's first step of sizes that takes the call.
static VariantBound stepFor(const ConfigurationProblem &problem, const SearchedCall &call,
                            const ConfigurationChooser &chooser) {
  if (variantSymbol(problem.subkernel).empty())
    return {};
  for (int64_t most : chooser.variantSizes(problem))
    if (VariantBound step{most, 0}; step.takes(call.size, call.workers))
      return step;
  return {};
}

VariantBound boundForCall(const ConfigurationProblem &problem, const Configuration &kernel,
                          llvm::ArrayRef<Variant> variants, const SearchedCall &call,
                          const ConfigurationChooser &chooser) {
  const auto *taken = llvm::find_if(variants, [&](const Variant &variant) {
    return variant.bound.takes(call.size, call.workers);
  });
  VariantBound bound = taken == variants.end() ? VariantBound() : taken->bound;
  const Configuration &now = taken == variants.end() ? kernel : taken->configuration;
  // A new one begins as what the call runs now, if it may.
  auto canBe = [&](VariantBound wanted) {
    VariantProblem variant(problem, kernel, wanted);
    return violation(variant.problem, now, chooser).empty();
  };
  VariantBound step = stepFor(problem, call, chooser);
  bool isFiner = step.most > 0 && (bound.most == 0 || step.most < bound.most);
  if (isFiner && canBe(step))
    return step;
  VariantBound many{0, call.workers};
  bool isNew = call.addsForWorkers && bound.most == 0 && bound.workers != call.workers;
  return isNew && canBe(many) ? many : bound;
}

} // namespace tw::conversion
