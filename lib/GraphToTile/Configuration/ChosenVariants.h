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

/// The variant that a search changes for calls like one with so many workers, in which the size that
/// variants are told apart by is `size`: the one that the call takes, or one of `kernel`'s size up
/// to the target's next step, which then is another range of sizes. For all calls where that is the
/// kernel itself.
VariantBound boundForCall(const ConfigurationProblem &problem, const Configuration &kernel,
                          llvm::ArrayRef<Variant> variants, std::optional<int64_t> size,
                          int64_t workers, const ConfigurationChooser &chooser);

} // namespace tw::conversion
