// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search has found, written down.
#pragma once
#include "ConfigurationText.h"
#include "Tune/Comparison.h"
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// A kernel of the model with the configuration that it gets.
struct FoundKernel {
  TunableKernel kernel;
  std::optional<tune::Point> point; // none: the compiler's choice of everything
  /// Where that comes from; empty for the compiler's choice, or a starter spec's.
  struct Measured {
    std::string machine, compiler;
    double startUs = 0;
    tune::TimeRatio ratio;
  };
  std::optional<Measured> measured;

  bool isCompilersChoice() const { return !point || cli::isCompilersChoice(kernel, *point); }
};

/// A tuning spec (docs/tuning.md): a matcher for each kernel that gets another configuration than
/// the compiler's choice. It names no model: dtypes and sizes for what a template computes, the
/// operations, too, for other loops; and the dispatch where the model has another kernel of which
/// the same could be said. Of `model` the target counts; its path is for readers.
std::string specText(const ModelOptions &model, const std::vector<FoundKernel> &kernels,
                     const std::vector<Decision> &decisions);
/// The same as a configuration file (docs/configurations.md).
std::string configurationText(const std::vector<FoundKernel> &kernels,
                              const std::vector<Decision> &decisions);

} // namespace tw::cli
