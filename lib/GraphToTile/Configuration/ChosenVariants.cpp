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

VariantBound boundForCall(const ConfigurationProblem &problem, const Configuration &kernel,
                          llvm::ArrayRef<Variant> variants, std::optional<int64_t> size,
                          int64_t workers, const ConfigurationChooser &chooser) {
  const auto *taken = llvm::find_if(
      variants, [&](const Variant &variant) { return variant.bound.takes(size, workers); });
  VariantBound bound = taken == variants.end() ? VariantBound() : taken->bound;
  if (variantSymbol(problem.subkernel).empty() || !size)
    return bound;
  for (int64_t most : chooser.variantSizes(problem)) {
    VariantBound step{most, 0};
    if (!step.takes(size, workers))
      continue;
    if (bound.most > 0 && bound.most <= most)
      return bound;
    VariantProblem variant(problem, kernel, step);
    const Configuration &now = taken == variants.end() ? kernel : taken->configuration;
    return violation(variant.problem, now, chooser).empty() ? step : bound;
  }
  return bound;
}

} // namespace tw::conversion
