// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variants a kernel gets where nobody says it, and what is asked of any.
#pragma once
#include "GraphToTile/Configuration/ConfigurationChooser.h"
#include "GraphToTile/Configuration/Variants.h"

namespace tw::conversion {

/// A variant that wants a configuration.
struct VariantProblem {
  VariantProblem(const ConfigurationProblem &of, const Configuration &kernel, VariantBound bound)
      : subkernel(bound.most > 0 ? boundedBy(of.subkernel, bound.most) : of.subkernel),
        problem{subkernel, of.isRhsWeight, &kernel, bound.workers} {}
  VariantProblem(const VariantProblem &) = delete;

  Subkernel subkernel;
  ConfigurationProblem problem;
};

/// The first constraint that a configuration violates, with its values; empty if it fits.
std::string violation(const ConfigurationProblem &problem, const Configuration &configuration,
                      const ConfigurationChooser &chooser);

/// Those that the target has for a kernel of this configuration, in the order in which a call looks
/// for one.
std::vector<Variant> chooseVariants(const ConfigurationProblem &problem,
                                    const Configuration &kernel,
                                    const ConfigurationChooser &chooser);

/// A call that a search is for.
struct SearchedCall {
  std::optional<int64_t> size; // that variants are told apart by
  int64_t workers = 0;         // 0: any number
  bool addsForWorkers = false; // calls with fewer workers are to run what they run now
};

/// The variant that such a search changes: the one that the call takes, or one for sizes up to the
/// target's next step, which then is another range of sizes; or for as many workers, if these are
/// to have one. For all calls where that is the kernel itself.
VariantBound boundForCall(const ConfigurationProblem &problem, const Configuration &kernel,
                          llvm::ArrayRef<Variant> variants, const SearchedCall &call,
                          const ConfigurationChooser &chooser);

} // namespace tw::conversion
