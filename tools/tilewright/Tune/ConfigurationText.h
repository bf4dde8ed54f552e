// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations as a search has them, and files of them: what a search tells the compiler.
#pragma once
#include "Decisions.h"
#include "KernelSpaces.h"

namespace tw::cli {

/// The fields that are the target's own, or those that are not, with the values of `point`.
kernels::Fields fieldsAt(const TunableKernel &kernel, const tune::Point &point, bool ofTarget);

/// A kernel with all its code.
struct KernelConfiguration {
  tune::Point own;
  /// Missing: those that the compiler chooses for `own`.
  std::optional<std::map<VariantBound, tune::Point>> variants;
};
/// With `point` for the calls that the kernel's space is of.
KernelConfiguration configurationAt(const TunableKernel &kernel, const tune::Point &point);
/// Whether that is what the compiler chooses by itself.
bool isCompilersChoice(const TunableKernel &kernel, const tune::Point &point);

/// A configuration file (docs/configurations.md) with the kernels of `choice`, and those that share
/// dispatches with them, which a file gives as a whole; and with decisions.
std::string configurationText(const std::vector<TunableKernel> &kernels, const Choice &choice,
                              const std::vector<Decision> &decisions);

} // namespace tw::cli
